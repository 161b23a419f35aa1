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
    const timer = time.setTimeout(resolve, ms, isIdle)
    void work.catch(nothing).then((result) => {
      time.clearTimeout(timer)
      resolve(result)
    })
  })
}
