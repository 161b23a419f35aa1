/** Identifies a timer of the clock that created it. */
export type Timer = object

/**
 * Time and randomness. Tests use a clock of their own, so that they depend only on their inputs.
 */
export interface Clock {
  /** Milliseconds, monotonic; the starting point is arbitrary. */
  now(): number
  setTimeout(run: () => void, ms: number): Timer
  clearTimeout(timer: Timer | undefined): void
  setImmediate(run: () => void): void
  /** Returns a random number from 0 up to, but not including, 1. */
  random(): number
}

export const systemClock: Clock = {
  now: performance.now.bind(performance),
  setTimeout,
  clearTimeout: clearTimeout as Clock['clearTimeout'],
  setImmediate,
  random: Math.random,
}

const secondMs = 1_000
/** A timer may run this much too early without causing a second poll at the same second. */
const earlyMs = 50

/**
 * Returns a pause that ends at a whole second of the clock: the last one that is at most
 * `ms + earlyMs` away. The pause is usually about `ms`, because the previous pause ended at a whole
 * second, too. If it did not, the new pause can be almost a second shorter. If `ms` is less than a
 * second, it is returned unchanged. All polls that pause like this run in one turn of the event
 * loop, so an idle process wakes up once for all of them. (A turn after a pause costs much more
 * than the polls in it.)
 */
export function untilWholeSecond(ms: number, clock: Pick<Clock, 'now'>): number {
  if (ms < secondMs) return ms
  const now = clock.now()
  return Math.floor((now + ms + earlyMs) / secondMs) * secondMs - now
}

/**
 * Resolves after `ms` milliseconds.
 *
 * @throws the reason of `signal`, when it aborts
 */
export function pause(
  ms: number,
  { clock = systemClock, signal }: { clock?: Clock; signal?: AbortSignal } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = () => {
      clock.clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
