import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  /**
   * A value that changes as long as there is progress, such as a counter. Without it only the
   * condition itself counts.
   */
  progress?: () => unknown
  /** The longest time without progress. Much longer than any step takes: only a stall reaches it. */
  stallMs?: number
  everyMs?: number
}

/** Polls until the condition is true; an error counts as false. */
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
      const at = progress === undefined ? '' : ` (progress: ${String(seen)})`
      throw new Error(`waiting until ${what}: no progress for ${stallMs} ms${at}`, { cause: last })
    }
    await pause(everyMs)
  }
}
