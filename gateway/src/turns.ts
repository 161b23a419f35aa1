import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises'

export interface Turns {
  /** Runs `work` when its turn has come; settles as it does. */
  take<Result>(work: () => Result): Promise<Result>
}

/** Work up to this time is followed by the next at once. */
const shortMs = 5
const pauseMsMax = 200

/**
 * Lets long pieces of work hold the event loop one at a time, in order, and after each gives the loop to
 * others for as long as the piece took: they get half of it.
 */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()

  return {
    take(work) {
      const turn = last.then(() => immediate()).then(() => timed(work))
      last = turn.then(({ ms }) => (ms > shortMs ? pause(Math.min(ms, pauseMsMax)) : undefined))
      return turn.then(({ result }) => result())
    },
  }
}

/** What became of the work, and how long it took. */
function timed<Result>(work: () => Result): { result: () => Result; ms: number } {
  const from = performance.now()
  let result: () => Result
  try {
    const value = work()
    result = () => value
  } catch (error) {
    result = () => {
      throw error
    }
  }
  return { result, ms: performance.now() - from }
}
