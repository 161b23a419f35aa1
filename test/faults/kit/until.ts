import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  /**
   * What moves while the condition comes nearer, such as a counter. Without it only the condition
   * itself counts.
   */
  progress?: () => unknown
  /** How long nothing may move. Much longer than anything takes: only a stall reaches it. */
  stallMs?: number
  everyMs?: number
}

/** Asks again until the answer is true; an answer that fails counts as no. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  options: UntilOptions = {},
): Promise<void> {
  const { progress, stallMs = 120_000, everyMs = 25 } = options
  let moved = performance.now()
  let seen: unknown
  let last: unknown
  for (;;) {
    try {
      if (await condition()) return
      last = undefined
      const now = await progress?.()
      if (now !== seen) moved = performance.now()
      seen = now
    } catch (error) {
      last = error
    }
    if (performance.now() - moved > stallMs) {
      const at = progress === undefined ? '' : ` (it stands at ${String(seen)})`
      throw new Error(`nothing has moved for ${stallMs} ms until ${what}${at}`, { cause: last })
    }
    await pause(everyMs)
  }
}
