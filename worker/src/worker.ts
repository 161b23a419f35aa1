import { helpOf } from '@intake/health'
import {
  createFrameConsumer,
  queueNames,
  type BatchLimits,
  type JobSource,
  type QueueName,
  type ReadBacklogs,
} from '@intake/queue'
import { limitRepeats, systemClock, withTimeout, type Clock, type Logger } from '@intake/runtime'
import type { Tracing } from '@intake/tracing'
import { drainQueue } from './drain-queue.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { RowStore } from './ports.ts'
import { createRefusalRun } from './refusal-run.ts'
import type { WorkerProblems } from './problems.ts'
import { startWatermark, type Watermark } from './watermark.ts'

const mebibyte = 1024 * 1024

/**
 * What a worker holds and inserts at once, per queue. docs/deploy/README.md says how much memory this needs.
 */
const batchLimits: Record<QueueName, BatchLimits> = {
  logs: { framesMax: 256, gzipBytesMax: 32 * mebibyte, jsonBytesMax: 64 * mebibyte },
  feedback: { framesMax: 32, gzipBytesMax: 16 * mebibyte, jsonBytesMax: 32 * mebibyte },
  outcomes: { framesMax: 64, gzipBytesMax: mebibyte, jsonBytesMax: 8 * mebibyte },
}
/** Timeout for an insert in progress when the worker closes; then its frames are released. */
const insertEndMs = 3_000
/** Timeout for completing or releasing frames when the worker closes. */
const closeTimeoutMs = 7_000

/** An unreadable frame is handed out again every minute. */
const unreadableMs = 2 * 60_000

export interface Worker {
  close(): Promise<void>
  watermarkLateMs: Watermark['lateMs']
  /** The kinds whose table rejects every row. */
  refusingKinds(): QueueName[]
}

/**
 * Moves frames from each queue into its table, one batch at a time per queue, and stores how far it is.
 *
 * @param options.sources are closed with the worker
 * @param options.announceFeedback called with the rows of feedback that were stored, before their frames
 * are completed; when it rejects, the frames are redelivered
 * @param options.onError called for errors of the queues, which are retried
 */
export function startWorker(options: {
  sources: Record<QueueName, JobSource>
  readBacklogs: ReadBacklogs
  clockSkewMaxMs: number
  store: RowStore
  announceFeedback?: (rows: readonly string[]) => Promise<void>
  metrics: WorkerMetrics
  problems: Pick<WorkerProblems, 'note'>
  log: Logger
  /** Undefined: traces are off. */
  tracing?: Tracing | undefined
  onError: (error: Error) => void
  clock?: Clock
  /** The wall clock, in milliseconds since 1970. */
  wallMs?: () => number
}): Worker {
  const { store, announceFeedback, metrics, problems, log, tracing, onError } = options
  const { clock = systemClock, wallMs = () => Date.now() } = options
  const stop = new AbortController()

  const start = (kind: QueueName) => {
    const source = options.sources[kind]
    const refusalRun = createRefusalRun()
    const consumer = createFrameConsumer({
      source,
      onError(error) {
        metrics.queueFailed(kind)
        onError(error)
      },
      onUnreadable(err) {
        metrics.unreadable(kind)
        problems.note('frame_unreadable', `a frame of ${kind}: ${err.message}`, unreadableMs)
        const help = 'docs/operations/frame-unreadable.md'
        log.error({ err, kind, help }, 'a frame cannot be read; it is kept')
      },
      onLocksLost(frames) {
        metrics.locksLost(kind, frames)
        problems.note('locks_lost', `${frames} frames of ${kind}`)
        const help = 'docs/operations/locks-lost.md'
        log.warn({ kind, frames, help }, 'locks lost: another worker may store the same rows again')
      },
      clock,
    })
    const drained = drainQueue({
      consumer,
      limits: batchLimits[kind],
      store: {
        store,
        ...(kind === 'feedback' && announceFeedback && { announce: announceFeedback }),
        kind,
        metrics,
        log,
        tracing,
        refusalRun,
        signal: stop.signal,
        clock,
      },
    })
    return {
      kind,
      refusalRun,
      async close() {
        consumer.close()
        await drained
        await source.close()
      },
    }
  }
  const queues = (Object.keys(queueNames) as QueueName[]).map(start)
  const watermark = startWatermark({
    readBacklogs: options.readBacklogs,
    store,
    clockSkewMaxMs: options.clockSkewMaxMs,
    onError: limitRepeats(
      (err, omitted) =>
        log.warn({ err, omitted, help: helpOf('watermark') }, 'the watermark could not be stored'),
      () => clock.now(),
    ),
    signal: stop.signal,
    clock,
    wallMs,
  })

  return {
    watermarkLateMs: watermark.lateMs,
    refusingKinds: () =>
      queues.flatMap(({ kind, refusalRun }) => (refusalRun.isLong() ? [kind] : [])),
    async close() {
      watermark.close()
      const closed = Promise.all(queues.map((queue) => queue.close()))
      const timer = clock.setTimeout(() => stop.abort(), insertEndMs)
      try {
        await withTimeout(closed, closeTimeoutMs, 'closing the queues', clock)
      } catch (err) {
        const help = helpOf('process_ends')
        log.warn(
          { err, help },
          'frames were not released; they are redelivered when their locks expire',
        )
      } finally {
        clock.clearTimeout(timer)
      }
    },
  }
}
