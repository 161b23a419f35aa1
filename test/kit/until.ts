import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  /**
   * Returns a value that changes as long as there is progress, such as a counter. Without this
   * function, `stallMs` limits the whole wait.
   */
  progress?: () => unknown
  /**
   * The longest time without progress. It is much longer than any step takes, so only a stall
   * reaches it.
   */
  stallMs?: number
  /** By default a tenth of the wait so far: each poll takes time from what it waits for. */
  everyMs?: number
}

type Falsy = false | undefined

/**
 * Polls until the condition holds; an error counts as false.
 *
 * @param what continues the sentence "waiting until …"
 * @returns the first value that is neither false nor undefined
 */
export async function until<Value>(
  what: string,
  condition: () => Promise<Value> | Value,
  options: UntilOptions = {},
): Promise<Exclude<Value, Falsy>> {
  const { progress, stallMs = 300_000, everyMs } = options
  const began = performance.now()
  let moved = began
  let seen: unknown
  let last: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value !== false && value !== undefined) return value as Exclude<Value, Falsy>
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
    await pause(everyMs ?? Math.min(Math.max((performance.now() - began) / 10, 10), 250))
  }
}
