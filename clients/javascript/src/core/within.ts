import type { TimeSource } from './ports.ts'
import { nothing } from './with-fallback.ts'

/**
 * Resolves to the result of `work`; to undefined if it fails, or takes longer than `ms`.
 *
 * @param isIdle true if the wait should not keep the process alive
 */
export const within = <Result>(
  time: Pick<TimeSource, 'setTimeout' | 'clearTimeout'>,
  ms: number,
  work: Promise<Result>,
  isIdle?: boolean,
): Promise<Result | undefined> => {
  return new Promise((resolve: (result?: Result) => void) => {
    // JavaScript runs a timer of more than 2^31 ms (25 days) at once.
    const timer = time.setTimeout(resolve, Math.min(ms, 1e9), isIdle)
    void work.catch(nothing).then((result) => {
      time.clearTimeout(timer)
      resolve(result)
    })
  })
}
