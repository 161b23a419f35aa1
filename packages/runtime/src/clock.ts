export type Timer = object

/** Time and randomness. Tests have their own, so that they depend only on their inputs. */
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
 * Returns a pause of at most `ms + earlyMs` that ends at a whole second of the clock, usually of
 * about `ms`, because the previous one ended so, too; otherwise it can be almost a second shorter.
 * Less than a second is returned unchanged. All such polls run in one turn of the event loop, and
 * waking up costs much more than the polls.
 */
export function untilWholeSecond(ms: number, clock: Pick<Clock, 'now'>): number {
  if (ms < secondMs) return ms
  const now = clock.now()
  return Math.floor((now + ms + earlyMs) / secondMs) * secondMs - now
}

/** @throws the reason of `signal`, when it aborts */
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
