import { abortAfter, type Timers } from '../core/fetch-transport.ts'

/**
 * Runs a request and rejects after `ms`, also where `AbortController` is absent, as in the engine
 * alone, or has no effect on `fetch`.
 */
export function giveUpAfter<Result>(
  time: Timers,
  ms: number,
  run: (signal: AbortSignal | null) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = time.setTimeout(() => reject(new Error('timeout')), ms)
    const running = typeof AbortController === 'undefined' ? run(null) : abortAfter(time, ms, run)
    void running.then(resolve, reject).then(() => time.clearTimeout(timer))
  })
}
