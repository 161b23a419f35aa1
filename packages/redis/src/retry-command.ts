import { retryUntil, type Attempt, type Clock } from '@intake/runtime'
import { isRefusal } from './write-refusal.ts'

/**
 * Repeats a command until Redis replies or the deadline has passed. An error reply of Redis is
 * final.
 *
 * @param options.what the subject of the error message when an attempt times out
 * @param options.deadline in milliseconds of `clock.now()`
 */
export function retryCommand<Result>(
  attempt: (attempt: Attempt) => Promise<Result>,
  options: { what: string; deadline: number; clock: Clock },
): Promise<Result> {
  return retryUntil(attempt, {
    ...options,
    attemptTimeoutMs: 1_500,
    pauseMs: 100,
    isFinal: isRefusal,
  })
}
