import { setTimeout as pause } from 'node:timers/promises'
import type { Waiting } from './job-source.ts'

const gatherMs = 350
/** Of a consumer that yields to another one: that one goes on claiming, and stays warm. */
const standbyMs = 500
/** Jobs whose delay has passed are only found by a claim. */
const idleMaxMs = 5_000

/**
 * Lets jobs gather in the queue until the oldest has waited for a moment, or a full batch waits. Then
 * one consumer claims them all: the others see that the oldest has changed, and yield. Woken by every
 * job they would share a trickle and make many small inserts.
 *
 * @returns waits until it is this consumer's turn, or until `signal` aborts
 */
export function createClaimTurn(options: {
  peek: () => Promise<Waiting>
  signal: AbortSignal
}): (framesMax: number) => Promise<void> {
  const { peek, signal } = options
  let intervalMs = gatherMs

  return async (framesMax) => {
    const idleSince = performance.now()
    let oldestBefore: string | undefined
    while (!signal.aborted) {
      const { count, oldest } = await peek()
      if (count >= framesMax) return
      const isUnclaimed = oldest !== undefined && oldest === oldestBefore
      if (isUnclaimed || performance.now() - idleSince >= idleMaxMs) {
        intervalMs = gatherMs
        return
      }
      if (oldestBefore !== undefined) intervalMs = standbyMs
      oldestBefore = oldest
      await pause(intervalMs, undefined, { signal })
    }
  }
}
