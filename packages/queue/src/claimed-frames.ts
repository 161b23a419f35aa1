import { withTimeout, type Clock } from '@intake/runtime'
import { FrameError, openFrame, readJobTime, type Frame } from './frame.ts'
import type { ClaimedJob, JobSource } from './job-source.ts'
import { createLockRenewal } from './lock-renewal.ts'

export interface ClaimedFrame extends Frame {
  /** Counts this time, too; an estimate after a restart of Redis. */
  attempts: number
  /** Arrival of the oldest row by the gateway's clock, in ms since 1970; undefined if unknown. */
  receivedAtMs: number | undefined
}

const unreadableRetryMs = 60_000

export type FrameClaims = ReturnType<typeof createFrameClaims>

/**
 * The commands of a queue on several frames at once. None rejects because Redis refuses it: that is
 * reported, and the frame may be redelivered when its lock expires. The locks of claimed frames are
 * renewed until they are completed, postponed or released.
 *
 * @param options.source its commands have a timeout (see `createTimedSource`)
 */
export function createFrameClaims(options: {
  source: JobSource
  onError: (error: Error) => void
  onUnreadable: (error: FrameError) => void
  onLocksLost: (frames: number) => void
  clock: Clock
}) {
  const { source, onError, onUnreadable, clock } = options
  const locks = createLockRenewal({ ...options, renew: source.renew, onLost: options.onLocksLost })
  const jobs = new WeakMap<ClaimedFrame, ClaimedJob>()

  async function openAll(claimed: readonly (ClaimedJob | undefined)[]): Promise<ClaimedFrame[]> {
    const frames: ClaimedFrame[] = []
    const unreadable: ClaimedJob[] = []
    for (const job of claimed) {
      if (job === undefined) continue
      try {
        const { id, attempts } = job
        const frame = { ...openFrame(job.data), attempts, receivedAtMs: readJobTime(id) }
        jobs.set(frame, job)
        locks.add(job)
        frames.push(frame)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        onUnreadable(error)
        unreadable.push(job)
      }
      // The frame has the bytes, so their base64 text need not stay in memory until the insert.
      job.data = undefined
    }
    await settle(unreadable, (job) => source.postpone(job, unreadableRetryMs))
    return frames
  }

  function settle<Result>(
    claimed: readonly ClaimedJob[],
    command: (job: ClaimedJob) => Promise<Result>,
  ): Promise<Result[]> {
    // The command releases the lock, which a concurrent renewal would report as lost.
    for (const job of claimed) locks.delete(job)
    return succeeded(claimed.map(command), onError)
  }

  const jobsOf = (frames: readonly ClaimedFrame[]) =>
    frames.flatMap((frame) => jobs.get(frame) ?? [])

  return {
    claim: async (count: number) =>
      openAll(await succeeded(Array.from({ length: count }, source.claim), onError)),

    /**
     * Removes the frames permanently.
     *
     * @param options.claimNext also claims as many further frames, in the same round trips, and
     * returns them
     */
    complete: async (frames: readonly ClaimedFrame[], { claimNext }: { claimNext: boolean }) =>
      openAll(await settle(jobsOf(frames), (job) => source.complete(job, { claimNext }))),

    async postpone(frame: ClaimedFrame, ms: number): Promise<void> {
      await settle(jobsOf([frame]), (job) => source.postpone(job, ms))
    },

    /** Returns the frames to the queue, in their order. */
    async release(frames: readonly ClaimedFrame[]): Promise<void> {
      // A released job is the first to be claimed again, so the oldest is released last.
      await settle(jobsOf(frames).toReversed(), source.release)
    },

    /** Resolves to the number of waiting frames; to 0 if it is not known within `timeoutMs`. */
    async countWaiting(timeoutMs: number): Promise<number> {
      if (timeoutMs <= 0) return 0
      const peek = withTimeout(source.peek(), timeoutMs, 'a look at a queue', clock)
      const [waiting] = await succeeded([peek], onError)
      return waiting?.count ?? 0
    },
  }
}

async function succeeded<Value>(
  commands: Promise<Value>[],
  onError: (error: Error) => void,
): Promise<Value[]> {
  const outcomes = await Promise.allSettled(commands)
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'fulfilled') return [outcome.value]
    onError(outcome.reason as Error)
    return []
  })
}
