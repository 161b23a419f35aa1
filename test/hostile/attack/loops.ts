import { setTimeout as pause } from 'node:timers/promises'

/** Resolves after `ms`, or at once when `signal` is aborted. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined)
}

/** Runs `lanes` loops in parallel, each of which repeats `work` until `signal` is aborted. */
export async function repeat(
  options: { lanes: number; pauseMs?: number; signal: AbortSignal },
  work: (lane: number) => Promise<unknown>,
): Promise<void> {
  const { lanes, pauseMs = 0, signal } = options
  const run = async (lane: number) => {
    while (!signal.aborted) {
      await work(lane)
      if (pauseMs > 0) await wait(pauseMs, signal)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)))
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
