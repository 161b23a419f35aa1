/** Runs a piece of work when the event loop is this sender's; see `Turns`. */
export type TakeTurn = <Result>(work: () => Result) => Promise<Result>

/** How long a turn may hold the event loop, on which other senders wait; short enough for no pause after it. */
const turnMs = 4

/**
 * Maps a long list in turns with the work of other senders. Promises among the results are waited for at
 * the end, all together; the first rejection rejects then.
 */
export async function mapInTurns<Value, Result>(
  values: readonly Value[],
  takeTurn: TakeTurn,
  map: (value: Value, index: number) => Result,
): Promise<Awaited<Result>[]> {
  const results: Result[] = []
  const mapSome = () => {
    const endsAt = performance.now() + turnMs
    do {
      const index = results.length
      const result = map(values[index] as Value, index)
      // A rejection that has no handler in its own turn would end the process.
      if (result instanceof Promise) result.catch(() => undefined)
      results.push(result)
    } while (results.length < values.length && performance.now() < endsAt)
  }
  while (results.length < values.length) await takeTurn(mapSome)
  return Promise.all(results)
}
