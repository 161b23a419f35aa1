import type { TimeSource } from '../core/ports.ts'

/** Resolves or rejects as `work` does; calls `onTimeout` and rejects if that takes longer than `ms`. */
export const orTimeout = <Result>(
  time: TimeSource,
  ms: number,
  work: Promise<Result>,
  onTimeout?: () => void,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const timer = time.setTimeout(() => {
      onTimeout?.()
      reject(new Error('timeout'))
    }, ms)
    void work.then(resolve, reject).then(() => time.clearTimeout(timer))
  })
