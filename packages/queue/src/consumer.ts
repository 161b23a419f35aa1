import { pause, systemClock, type Clock } from '@intake/runtime'
import { createBatchRoom, type BatchLimits } from './batch-room.ts'
import { createClaimTurn } from './claim-turn.ts'
import { createFrameClaims, type ClaimedFrame, type FrameClaims } from './claimed-frames.ts'
import type { FrameError } from './frame.ts'
import type { JobSource } from './job-source.ts'
import { createTimedSource } from './timed-source.ts'

export type FrameConsumer = ReturnType<typeof createFrameConsumer>
type Batch = ReturnType<typeof createBatch>

const errorPauseMs = 1_000
/** For how long frames that have just arrived may be added: the first ones wait meanwhile. */
const lookAgainMs = 350
/** How many commands are sent at once. Together they need one round trip and one sync to disk. */
const commandsAtOnce = 16

/**
 * Hands out the frames of a queue in batches, each at least once. A command that Redis refuses is
 * reported and retried.
 *
 * @param options.gatherMs how long frames may wait for further ones, in milliseconds
 * @param options.source belongs to the caller, who closes it after this consumer
 * @param options.onUnreadable called for a frame that this version cannot read; it is handed out
 * again every minute, because a newer version may be able to
 * @param options.onLocksLost called with the number of frames that another consumer may also have
 */
export function createFrameConsumer(options: {
  source: JobSource
  onError: (error: Error) => void
  onUnreadable: (error: FrameError) => void
  onLocksLost: (frames: number) => void
  gatherMs?: number | undefined
  clock?: Clock
}) {
  const { onError, gatherMs, clock = systemClock } = options
  const source = createTimedSource(options.source, { onError, clock })
  const closing = new AbortController()
  const { signal } = closing
  const untilDue = createClaimTurn({ source, signal, clock, gatherMs })
  const claims = createFrameClaims({ ...options, source, clock })
  const supply = createFrameSupply({ claims, clock, signal })

  return {
    /**
     * Waits for frames, then claims as many as the limits allow; undefined after `close`. Call it
     * again only after `complete` or `release`.
     */
    async take(limits: BatchLimits): Promise<Batch | undefined> {
      while (!signal.aborted) {
        try {
          const waiting = supply.mayHaveMore() ? Infinity : await untilDue(limits.framesMax)
          const frames = await supply.fill(limits, waiting)
          if (signal.aborted) supply.putBack(frames)
          else if (frames.length > 0) {
            return createBatch(frames, { claims, complete: (all) => supply.complete(all, limits) })
          }
        } catch (error) {
          if (signal.aborted) break
          onError(error as Error)
          await pause(errorPauseMs, { clock, signal }).catch(() => {})
        }
      }
      await claims.release(supply.takeAll())
      return undefined
    },

    /** Ends `take`. A batch that was taken can still be completed or released. */
    close: () => closing.abort(),
  }
}

function createFrameSupply(options: { claims: FrameClaims; clock: Clock; signal: AbortSignal }) {
  const { claims, clock, signal } = options
  /** Claimed frames that did not fit into the last batch, or that its completion claimed. */
  let carried: ClaimedFrame[] = []
  /** True if the last batch was full, so that more frames are probably waiting. */
  let isBacklogged = false

  return {
    mayHaveMore: () => carried.length > 0 || isBacklogged,

    takeAll: () => carried.splice(0),

    putBack: (frames: readonly ClaimedFrame[]) => void carried.unshift(...frames),

    /**
     * Claims as many waiting frames as fit; returns an empty list if none waits.
     *
     * @param waiting how many were waiting a moment ago; `Infinity` if not known. After so many
     * claims they are counted again, because a claim that finds none costs as much as any other
     */
    async fill(limits: BatchLimits, waiting: number): Promise<ClaimedFrame[]> {
      const frames: ClaimedFrame[] = []
      const room = createBatchRoom(limits)
      const lookUntil = clock.now() + lookAgainMs
      let unclaimed = Math.max(waiting, 1)
      for (;;) {
        while (carried[0] !== undefined && room.add(carried[0])) frames.push(carried.shift()!)
        isBacklogged = carried.length > 0 || room.left() === 0
        if (isBacklogged || unclaimed === 0 || signal.aborted) return frames
        const count = Math.min(room.left(), commandsAtOnce, unclaimed)
        const claimed = await claims.claim(count)
        carried = claimed
        unclaimed = claimed.length < count ? 0 : unclaimed - count
        if (claimed.length === count && unclaimed === 0)
          unclaimed = await claims.countWaiting(lookUntil - clock.now())
      }
    },

    /** Completes the frames of a batch, and claims frames for the next one if more are waiting. */
    async complete(frames: readonly ClaimedFrame[], limits: BatchLimits): Promise<void> {
      const room = createBatchRoom(limits)
      for (let at = 0; at < frames.length; at += commandsAtOnce) {
        const some = frames.slice(at, at + commandsAtOnce)
        // The command that completes a frame also claims another: half the round trips.
        const claimNext = isBacklogged && !signal.aborted && room.left() >= some.length
        const next = await claims.complete(some, { claimNext })
        for (const frame of next) room.add(frame)
        carried.push(...next)
      }
    },
  }
}

/**
 * Claimed frames. No other consumer gets them until they are released, or until this process has
 * not renewed their locks for 15 seconds.
 */
function createBatch(
  frames: ClaimedFrame[],
  options: {
    claims: Pick<FrameClaims, 'postpone' | 'release'>
    complete: (frames: readonly ClaimedFrame[]) => Promise<void>
  },
) {
  const { claims, complete } = options
  const held = new Set(frames)
  const takeAll = () => {
    const all = [...held]
    held.clear()
    return all
  }

  return {
    frames,
    /** Removes a frame that cannot be stored now; it is handed out again after `ms`. */
    async postpone(frame: ClaimedFrame, ms: number): Promise<void> {
      if (held.delete(frame)) await claims.postpone(frame, ms)
    },
    /** Removes the frames permanently, except one whose removal Redis does not confirm. */
    complete: () => complete(takeAll()),
    /** Returns the frames to the queue, which hands them out again at once. */
    release: () => claims.release(takeAll()),
  }
}
