import { setTimeout as pause } from 'node:timers/promises'

/** Asks again until the answer is true; an answer that fails counts as no. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  options: { timeoutMs: number; everyMs: number },
): Promise<void> {
  const { timeoutMs, everyMs } = options
  const deadline = performance.now() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      if (await condition()) return
      last = undefined
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain until ${what}`, { cause: last })
    }
    await pause(everyMs)
  }
}
