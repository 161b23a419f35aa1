import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a turn may hold the event loop, on which other senders wait. */
const turnMs = 5

/** Maps a long list, and lets others have the event loop every few milliseconds. */
export async function mapInTurns<Value, Result>(
  values: readonly Value[],
  map: (value: Value, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let turnEndsAt = performance.now() + turnMs
  for (const [index, value] of values.entries()) {
    if (performance.now() > turnEndsAt) {
      await nextTurn()
      turnEndsAt = performance.now() + turnMs
    }
    results.push(map(value, index))
  }
  return results
}
