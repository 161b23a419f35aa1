import { systemClock, type Clock, type Timer } from './clock.ts'

export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/**
 * Settles like `work`, or rejects with `TimeoutError` after `ms` milliseconds. After a timeout the
 * work continues, so its outcome is unknown. If it rejects later, that error is ignored.
 */
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  what: string,
  clock: Clock = systemClock,
): Promise<T> {
  let timer: Timer | undefined
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(
      () => reject(new TimeoutError(`${what} took longer than ${Math.round(ms)} ms`)),
      ms,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clock.clearTimeout(timer)
  }
}
