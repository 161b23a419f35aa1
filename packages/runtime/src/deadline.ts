import { pause, systemClock, type Clock, type Timer } from './clock.ts'

export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/**
 * Settles like `work`, or rejects with `TimeoutError` after `ms` milliseconds. The work then
 * continues: its outcome is unknown, and a later error is ignored.
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

/** Settles like `work`, which may continue, or rejects as soon as the signal aborts. */
export async function orAbort<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
  })
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** An attempt. Once it is abandoned, it must begin nothing, and not resolve without an effect. */
export interface Attempt {
  isAbandoned: boolean
}

/**
 * Repeats `attempt` until one resolves, be it late. Rejects with the last error if a repeat would
 * not help, or if the deadline leaves no time for one. If the deadline cut the last attempt short,
 * its error is a timeout whose `cause` is the error before.
 *
 * @param options.what the subject of the error message when an attempt times out
 * @param options.deadline in milliseconds of `clock.now()`
 * @param options.isFinal whether a repeat would not help; default: it always helps
 */
export async function retryUntil<Result>(
  attempt: (attempt: Attempt) => Promise<Result>,
  options: {
    what: string
    deadline: number
    attemptTimeoutMs: number
    pauseMs: number
    isFinal?: (error: unknown) => boolean
    clock?: Clock
  },
): Promise<Result> {
  const { what, deadline, attemptTimeoutMs, pauseMs, isFinal, clock = systemClock } = options
  let lastError: unknown
  const never = new Promise<never>(() => {})
  /** Settles when an abandoned attempt resolves: a slow server responds to the first one first. */
  let late: Promise<Result> = never
  for (;;) {
    const remainingMs = deadline - clock.now()
    // A pause may last longer than planned, so this can also happen after an attempt.
    if (remainingMs <= 0) throw lastError ?? new Error(`${what}: the deadline has passed`)
    const state: Attempt = { isAbandoned: false }
    const work = attempt(state)
    try {
      const first = Promise.race([late, work])
      return await withTimeout(first, Math.min(attemptTimeoutMs, remainingMs), what, clock)
    } catch (error) {
      late = Promise.race([late, work.catch(() => never)])
      const isCut = error instanceof TimeoutError && remainingMs < attemptTimeoutMs
      if (isCut && lastError !== undefined) error.cause = lastError
      if (isFinal?.(error) || clock.now() + pauseMs >= deadline) throw error
      lastError = error
    } finally {
      state.isAbandoned = true
    }
    const resolved = late.then((result) => ({ result }))
    const ended = await Promise.race([resolved, pause(pauseMs, { clock })])
    if (ended !== undefined) return ended.result
  }
}
