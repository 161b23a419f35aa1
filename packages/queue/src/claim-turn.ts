import { pause, untilWholeSecond, type Clock } from '@intake/runtime'
import type { JobSource } from './job-source.ts'

const defaultGatherMs = 350
/**
 * The poll interval of a consumer that yields. The one that claims polls more often, so it also
 * claims the next jobs, on a connection that is already in use.
 */
const standbyMs = 500
/**
 * Without a claim for this long, the consumer claims at its next peek. So a postponed job is
 * claimed within about five seconds after its delay.
 */
const idleMaxMs = 4_500
/**
 * A queue that is empty for so long is polled less often; records are visible within two seconds.
 */
const quietAfterMs = 10_000
const quietMs = 1_000

/**
 * Lets jobs gather until the oldest has waited for a moment, or a full batch waits. Then one
 * consumer claims them all; the others see that the oldest job has changed, and yield. If every job
 * woke all consumers, they would make many small inserts.
 *
 * @param options.source its commands have a timeout (see `createTimedSource`)
 * @param options.gatherMs how long jobs may wait for further jobs, in milliseconds
 * @returns a function that waits for this consumer's turn, and resolves to the number of jobs that
 * were waiting. Claim even if it is 0: the delay of a postponed job may have passed. It rejects when
 * `signal` aborts
 */
export function createClaimTurn(options: {
  source: Pick<JobSource, 'peek' | 'hasPostponed'>
  signal: AbortSignal
  clock: Clock
  gatherMs?: number | undefined
}): (framesMax: number) => Promise<number> {
  const { source, signal, clock, gatherMs = defaultGatherMs } = options
  let intervalMs = gatherMs
  /** The time at which `peek` last found a job, in milliseconds of `clock.now()`. */
  let busyAt = clock.now()

  return async (framesMax) => {
    let idleSince = clock.now()
    let oldestBefore: string | undefined
    for (;;) {
      const { count, oldest } = await source.peek()
      if (oldest !== undefined) busyAt = clock.now()
      if (count >= framesMax) return count
      const isUnclaimed = oldest !== undefined && oldest === oldestBefore
      const isIdle = clock.now() - idleSince >= idleMaxMs
      if (isUnclaimed || isIdle) intervalMs = gatherMs
      if (isUnclaimed || (isIdle && (count > 0 || (await source.hasPostponed())))) return count
      if (isIdle) idleSince = clock.now()
      if (oldestBefore !== undefined) intervalMs = Math.max(gatherMs, standbyMs)
      oldestBefore = oldest
      const isQuiet = clock.now() - busyAt >= quietAfterMs
      const pauseMs = isQuiet ? untilWholeSecond(Math.max(quietMs, intervalMs), clock) : intervalMs
      await pause(pauseMs, { clock, signal })
    }
  }
}
