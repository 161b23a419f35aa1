import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { Backlog, Backlogs, ReadBacklogs } from './backlog.ts'
import { queueKinds, type QueueName } from './names.ts'

/** The state of a queue as an operator sees it. All processes report the same. */
export interface QueueState extends Backlog {
  /** Seconds since the oldest row arrived; 0 when empty, undefined if no frame has a time. */
  oldestAgeSeconds: number | undefined
  /** Estimated from the last 15 seconds; `Infinity` when the queue is not getting shorter. */
  secondsToDrain: number
  /** Since when every reading has found waiting frames that may be taken, in seconds. */
  waitingSeconds: number
}

const intervalMs = 5_000
const readTimeoutMs = 10_000
/** A state that is older than this is not shown. */
const freshMs = 15_000
/** The speed at which a queue shrinks is measured over this time. */
const windowMs = 15_000
/** A queue whose oldest row is younger empties as fast as it fills, so it has no backlog. */
export const backlogFromSeconds = 5

interface Sample {
  atMs: number
  rows: number
}

export type BacklogMonitor = ReturnType<typeof startBacklogMonitor>

/**
 * Reads the queues every few seconds. All processes report the same.
 *
 * @param options.mayTake whether this process may take frames at this moment; default: always
 */
export function startBacklogMonitor(options: {
  readBacklogs: ReadBacklogs
  mayTake?: () => boolean
  onError: (error: Error) => void
  clock?: Clock
}) {
  const { readBacklogs, mayTake = () => true, onError, clock = systemClock } = options
  const samples = new Map<QueueName, Sample[]>()
  /** Since when every reading has found waiting frames that may be taken. */
  const waitingSince = new Map<QueueName, number>()
  let isLost = false
  let states:
    | { atMs: number; queues: Map<QueueName, QueueState>; shards: Backlogs['shards'] }
    | undefined

  async function poll(): Promise<void> {
    const reading = readBacklogs()
    const backlogs = await withTimeout(reading, readTimeoutMs, 'reading the queues', clock)
    isLost = backlogs === undefined
    if (backlogs === undefined) return
    const atMs = clock.now()
    const queues = new Map<QueueName, QueueState>()
    for (const kind of queueKinds) {
      const backlog = backlogs.queues[kind]
      const isEmpty = backlog.waiting + backlog.active + backlog.delayed === 0
      const ageMs = backlog.oldestMs === undefined ? undefined : backlogs.nowMs - backlog.oldestMs
      const oldestAgeSeconds = isEmpty ? 0 : ageMs && Math.max(0, ageMs) / 1_000
      const recent = (samples.get(kind) ?? []).filter((sample) => atMs - sample.atMs <= windowMs)
      recent.push({ atMs, rows: backlog.rows })
      samples.set(kind, recent)
      const secondsToDrain = estimateDrain(recent, oldestAgeSeconds)
      if (backlog.waiting === 0 || backlog.isPaused || !mayTake()) waitingSince.delete(kind)
      else if (!waitingSince.has(kind)) waitingSince.set(kind, atMs)
      const waitingSeconds = (atMs - (waitingSince.get(kind) ?? atMs)) / 1_000
      queues.set(kind, { ...backlog, oldestAgeSeconds, secondsToDrain, waitingSeconds })
    }
    states = { atMs, queues, shards: backlogs.shards }
  }

  const { close } = startPolling({
    poll,
    intervalMs,
    onError(error) {
      // Frames may have been taken meanwhile, so the wait is measured from the next reading on.
      waitingSince.clear()
      onError(error as Error)
    },
    clock,
  })
  const fresh = () =>
    states !== undefined && clock.now() - states.atMs <= freshMs ? states : undefined

  return {
    /** The state of a queue; undefined while Redis cannot be read. */
    of: (kind: QueueName) => fresh()?.queues.get(kind),
    /** The shards of the log queue; undefined while Redis cannot be read. */
    shards: () => fresh()?.shards,
    /** Whether Redis lacks the mark of an installation, because it is new or has lost its frames. */
    isLost: () => isLost,
    close,
  }
}

function estimateDrain(samples: readonly Sample[], oldestAgeSeconds = Infinity): number {
  if (oldestAgeSeconds < backlogFromSeconds) return oldestAgeSeconds
  const [first, last] = [samples[0]!, samples.at(-1)!]
  const rowsPerMs = (first.rows - last.rows) / (last.atMs - first.atMs)
  return rowsPerMs > 0 ? last.rows / rowsPerMs / 1_000 : Infinity
}
