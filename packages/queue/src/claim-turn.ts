import { pause, type Clock } from '@intake/runtime'
import type { Waiting } from './job-source.ts'

const gatherMs = 350
/** Interval of a consumer that yields to another one, which keeps claiming and stays warm. */
const standbyMs = 500
/** Jobs whose delay has passed are found only by a claim. */
const idleMaxMs = 5_000

/**
 * Lets jobs accumulate in the queue until the oldest has waited for a moment, or a full batch waits.
 * Then one consumer claims them all: the others see that the oldest job has changed, and yield. If
 * every job woke all consumers, they would share a trickle of jobs and make many small inserts.
 *
 * @returns a function that waits until it is this consumer's turn, or until `signal` aborts
 */
export function createClaimTurn(options: {
  peek: () => Promise<Waiting>
  signal: AbortSignal
  clock: Clock
}): (framesMax: number) => Promise<void> {
  const { peek, signal, clock } = options
  let intervalMs = gatherMs

  return async (framesMax) => {
    const idleSince = clock.now()
    let oldestBefore: string | undefined
    while (!signal.aborted) {
      const { count, oldest } = await peek()
      if (count >= framesMax) return
      const isUnclaimed = oldest !== undefined && oldest === oldestBefore
      if (isUnclaimed || clock.now() - idleSince >= idleMaxMs) {
        intervalMs = gatherMs
        return
      }
      if (oldestBefore !== undefined) intervalMs = standbyMs
      oldestBefore = oldest
      await pause(intervalMs, { clock, signal })
    }
  }
}
