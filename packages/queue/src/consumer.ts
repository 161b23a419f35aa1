import { pause, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { createBatchRoom, type BatchLimits } from './batch-room.ts'
import { createClaimTurn } from './claim-turn.ts'
import type { ClaimedJob, JobSource } from './job-source.ts'
import { createLockRenewal } from './lock-renewal.ts'
import { FrameError, openFrame, readJobTime, type Frame } from './frame.ts'

/**
 * Claimed frames. No other consumer gets them until they are released, or until this process has
 * not renewed their locks for 15 seconds.
 */
export interface Batch {
  frames: readonly ClaimedFrame[]
  /**
   * Removes from the batch a frame that cannot be stored now; the frame is handed out again after
   * `ms`.
   */
  postpone(frame: ClaimedFrame, ms: number): Promise<void>
  /**
   * Removes the frames from the queue permanently. A frame whose removal Redis does not confirm may
   * be redelivered.
   */
  complete(): Promise<void>
  /** Returns the frames to the queue, which hands them out again at once. */
  release(): Promise<void>
}

export interface ClaimedFrame extends Frame {
  /**
   * How often the frame has been handed out, including this time; an estimate after a restart of
   * Redis.
   */
  attempts: number
  /**
   * When the frame's oldest row arrived, by the gateway's clock, in milliseconds since 1970;
   * undefined if not known.
   */
  receivedAtMs: number | undefined
}

export interface FrameConsumer {
  /**
   * Waits for frames, then claims as many waiting frames as the limits allow. Call it for one batch
   * at a time: again only after `complete` or `release`. Resolves to undefined after `close`.
   */
  take(limits: BatchLimits): Promise<Batch | undefined>
  /**
   * Makes `take` resolve to undefined. A batch that was taken before can still be completed or
   * released.
   */
  close(): void
}

interface Claimed {
  job: ClaimedJob
  frame: ClaimedFrame
}

const unreadableRetryMs = 60_000
const errorPauseMs = 1_000
const commandTimeoutMs = 10_000
/**
 * For how long frames that have just arrived may be added to a batch. The limit is short, because
 * the first frames of the batch wait meanwhile.
 */
const lookAgainMs = 350
/** How many commands are sent at once. Together they need one round trip and one sync to disk. */
const commandsAtOnce = 16

/**
 * Hands out the frames of a queue in batches, each frame at least once. Errors do not stop the
 * consumer: a command that Redis refuses is reported and retried.
 *
 * @param options.gatherMs how long frames may wait for further frames, in milliseconds, so that all
 * are claimed together
 * @param options.source belongs to the caller, who closes it after this consumer
 * @param options.onUnreadable called for a frame that this version cannot read; the frame is kept
 * and handed out again every minute, because a newer version may be able to read it
 * @param options.onLocksLost called with the number of claimed frames that another consumer may
 * also have
 */
export function createFrameConsumer(options: {
  source: JobSource
  onError: (error: Error) => void
  onUnreadable: (error: FrameError) => void
  onLocksLost: (frames: number) => void
  gatherMs?: number | undefined
  clock?: Clock
}): FrameConsumer {
  const { source, onError, onUnreadable, onLocksLost, gatherMs, clock = systemClock } = options
  const closing = new AbortController()
  const { signal } = closing
  const untilDue = createClaimTurn({ source, signal, clock, gatherMs })
  const locks = createLockRenewal({ renew: source.renew, onError, onLost: onLocksLost, clock })
  /**
   * Claimed frames that are in no batch yet: they did not fit into the last batch, or `complete`
   * claimed them when it completed other frames.
   */
  let carried: Claimed[] = []
  /** True if the last batch was full, so that more frames are probably waiting. */
  let isBacklogged = false

  async function claim(count: number): Promise<Claimed[]> {
    const claims = Array.from({ length: count }, () => source.claim())
    return openAll(succeeded(await Promise.allSettled(claims)))
  }

  async function openAll(jobs: readonly (ClaimedJob | undefined)[]): Promise<Claimed[]> {
    const claimed: Claimed[] = []
    const unreadable: ClaimedJob[] = []
    for (const job of jobs) {
      if (job === undefined) continue
      try {
        const { id, attempts } = job
        const frame = { ...openFrame(job.data), attempts, receivedAtMs: readJobTime(id) }
        claimed.push({ job, frame })
        locks.add(job)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        onUnreadable(error)
        unreadable.push(job)
      }
      // The frame has the bytes, so their base64 text need not stay in memory until the insert.
      job.data = undefined
    }
    await forEach(unreadable, (job) => source.postpone(job, unreadableRetryMs))
    return claimed
  }

  /**
   * Returns the successful results and reports failures. A job whose command failed may still be in
   * the queue; it is then redelivered when its lock expires.
   */
  function succeeded<Value>(outcomes: PromiseSettledResult<Value>[]): Value[] {
    return outcomes.flatMap((outcome) => {
      if (outcome.status === 'fulfilled') return [outcome.value]
      onError(outcome.reason as Error)
      return []
    })
  }

  async function forEach<Result>(
    jobs: readonly ClaimedJob[],
    command: (job: ClaimedJob) => Promise<Result>,
  ): Promise<Result[]> {
    // Each command releases the lock of its job, and a concurrent renewal would report that lock as
    // lost.
    for (const job of jobs) locks.delete(job)
    const commands = jobs.map((job) =>
      withTimeout(command(job), commandTimeoutMs, 'a queue command', clock),
    )
    return succeeded(await Promise.allSettled(commands))
  }

  /**
   * Claims as many waiting frames as fit; returns an empty list if no frame waits.
   *
   * @param waiting the number of frames that were waiting a moment ago; `Infinity` if not known.
   * After this many claims the waiting frames are counted again. This avoids claims that find no
   * frame, which cost as much as any other claim
   */
  async function fill(limits: BatchLimits, waiting: number): Promise<Claimed[]> {
    const batch: Claimed[] = []
    const room = createBatchRoom(limits)
    let left = Math.max(waiting, 1)
    const looksUntil = clock.now() + lookAgainMs
    for (;;) {
      while (carried[0] !== undefined && room.add(carried[0].frame)) {
        batch.push(...carried.splice(0, 1))
      }
      isBacklogged = carried.length > 0 || room.left() === 0
      if (isBacklogged || left === 0 || signal.aborted) return batch
      const count = Math.min(room.left(), commandsAtOnce, left)
      carried = await claim(count)
      left =
        carried.length < count ? 0 : left - count || (await countWaiting(looksUntil - clock.now()))
    }
  }

  /**
   * Resolves to the number of frames that are waiting now. An error or a timeout counts as 0, so
   * that the frames already claimed are kept.
   */
  async function countWaiting(timeoutMs: number): Promise<number> {
    if (timeoutMs <= 0) return 0
    const peek = withTimeout(source.peek(), timeoutMs, 'a look at a queue', clock)
    const [waiting] = succeeded(await Promise.allSettled([peek]))
    return waiting?.count ?? 0
  }

  function createBatch(claimed: Claimed[], limits: BatchLimits): Batch {
    const jobs = new Map(claimed.map(({ job, frame }) => [frame, job]))
    const takeAll = () => {
      const all = [...jobs.values()]
      jobs.clear()
      return all
    }

    return {
      frames: claimed.map(({ frame }) => frame),

      async postpone(frame, ms) {
        const job = jobs.get(frame)
        jobs.delete(frame)
        if (job !== undefined) await forEach([job], (one) => source.postpone(one, ms))
      },

      async complete() {
        const room = createBatchRoom(limits)
        // If more frames wait, the command that completes a frame also claims another. Separate
        // commands would need twice as many round trips.
        for (const chunk of chunks(takeAll())) {
          const claimNext = isBacklogged && !signal.aborted && room.left() >= chunk.length
          const next = await forEach(chunk, (job) => source.complete(job, { claimNext }))
          const claimedNext = await openAll(next)
          for (const { frame } of claimedNext) room.add(frame)
          carried.push(...claimedNext)
        }
      },

      async release() {
        // Releases the oldest job last, so that it is the first to be claimed again.
        await forEach(takeAll().toReversed(), source.release)
      },
    }
  }

  return {
    async take(limits) {
      while (!signal.aborted) {
        try {
          const isNext = carried.length > 0 || isBacklogged
          const claimed = await fill(limits, isNext ? Infinity : await untilDue(limits.framesMax))
          if (signal.aborted) carried.unshift(...claimed)
          else if (claimed.length > 0) return createBatch(claimed, limits)
        } catch (error) {
          if (signal.aborted) break
          onError(error as Error)
          await pause(errorPauseMs, { clock, signal }).catch(() => {})
        }
      }
      await forEach(
        carried
          .splice(0)
          .map(({ job }) => job)
          .toReversed(),
        source.release,
      )
      return undefined
    },

    close: () => closing.abort(),
  }
}

function* chunks<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let at = 0; at < items.length; at += commandsAtOnce) {
    yield items.slice(at, at + commandsAtOnce)
  }
}
