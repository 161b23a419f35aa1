import { pause, untilWholeSecond, type Clock } from '@intake/runtime'
import type { Waiting } from './job-source.ts'

const defaultGatherMs = 350
/**
 * The poll interval of a consumer that yields to another consumer. It is longer than the interval
 * of the other consumer. So the other consumer, whose connection is already in use, keeps claiming.
 */
const standbyMs = 500
/**
 * After this time the next peek is followed by a claim, which is then at most five seconds after
 * the last one: only a claim finds jobs whose delay has passed.
 */
const idleMaxMs = 4_500
/**
 * A queue that has been empty for this long is polled less often; a record still becomes visible
 * within two seconds.
 */
const quietAfterMs = 10_000
const quietMs = 1_000

/**
 * Lets jobs accumulate in the queue until the oldest has waited for a moment, or a full batch
 * waits. Then one consumer claims them all; the other consumers see that the oldest job has
 * changed, and yield. If every job woke all consumers, each of them would claim only a few jobs and
 * make many small inserts.
 *
 * @param options.gatherMs how long jobs may wait for further jobs, in milliseconds
 * @returns a function that waits until it is this consumer's turn, or until `signal` aborts, and
 * resolves to the number of jobs that were waiting. Even if that number is 0, there may be jobs
 * whose delay has passed
 */
export function createClaimTurn(options: {
  peek: () => Promise<Waiting>
  signal: AbortSignal
  clock: Clock
  gatherMs?: number | undefined
}): (framesMax: number) => Promise<number> {
  const { peek, signal, clock, gatherMs = defaultGatherMs } = options
  let intervalMs = gatherMs
  /** When a job was last seen. */
  let busyAt = clock.now()

  return async (framesMax) => {
    const idleSince = clock.now()
    let oldestBefore: string | undefined
    while (!signal.aborted) {
      const { count, oldest } = await peek()
      if (oldest !== undefined) busyAt = clock.now()
      if (count >= framesMax) return count
      const isUnclaimed = oldest !== undefined && oldest === oldestBefore
      if (isUnclaimed || clock.now() - idleSince >= idleMaxMs) {
        intervalMs = gatherMs
        return count
      }
      if (oldestBefore !== undefined) intervalMs = Math.max(gatherMs, standbyMs)
      oldestBefore = oldest
      const isQuiet = clock.now() - busyAt >= quietAfterMs
      const pauseMs = isQuiet ? untilWholeSecond(Math.max(quietMs, intervalMs), clock) : intervalMs
      await pause(pauseMs, { clock, signal })
    }
    return 0
  }
}
