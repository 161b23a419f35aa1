import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a turn may hold the event loop, on which other senders wait. */
const turnMs = 5

/**
 * Maps a long list, and lets others have the event loop every few milliseconds. Promises among the results
 * are waited for at the end, all together; the first rejection rejects then.
 */
export async function mapInTurns<Value, Result>(
  values: readonly Value[],
  map: (value: Value, index: number) => Result,
): Promise<Awaited<Result>[]> {
  const results: Result[] = []
  let turnEndsAt = performance.now() + turnMs
  for (const [index, value] of values.entries()) {
    if (performance.now() > turnEndsAt) {
      await nextTurn()
      turnEndsAt = performance.now() + turnMs
    }
    const result = map(value, index)
    // A rejection that has no handler in its own turn would end the process.
    if (result instanceof Promise) result.catch(() => undefined)
    results.push(result)
  }
  return Promise.all(results)
}
