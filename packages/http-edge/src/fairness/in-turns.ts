import type { Clock } from '@intake/runtime'

/** Runs a piece of work in this sender's turn on the event loop; see `Turns`. */
export type TakeTurn = <Result>(work: () => Result) => Promise<Result>

/** It is below `shortMs` of `turns.ts`, so no pause follows the turn. */
const turnMs = 4

/** A sender here is an account of `Turns` (an API key), not the `Sender` of a record. */
export interface SenderTurns {
  takeTurn: TakeTurn
  clock: Pick<Clock, 'now'>
}

/**
 * Calls `map` for each value of a long list, and takes turns with the work of other senders. If
 * `map` returns promises, they are awaited together at the end; if one of them rejects, the
 * returned promise rejects too.
 */
export async function mapInTurns<Value, Result>(
  values: readonly Value[],
  { takeTurn, clock }: SenderTurns,
  map: (value: Value, index: number) => Result,
): Promise<Awaited<Result>[]> {
  const results: Result[] = []
  let hasPromise = false
  const mapSome = () => {
    const endsAt = clock.now() + turnMs
    do {
      const index = results.length
      const result = map(values[index] as Value, index)
      if (result instanceof Promise) {
        hasPromise = true
        // Without this handler, a promise that rejects before all values are mapped would crash the
        // process.
        result.catch(() => undefined)
      }
      results.push(result)
    } while (results.length < values.length && clock.now() < endsAt)
  }
  while (results.length < values.length) await takeTurn(mapSome)
  return hasPromise ? Promise.all(results) : (results as Awaited<Result>[])
}
