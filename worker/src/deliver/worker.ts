import { helpOf } from '@intake/health/problem-catalogue'
import { queueKinds, type QueueName } from '@intake/queue'
import { createFrameConsumer, type BatchLimits, type JobSource } from '@intake/queue/consume'
import { type Clock, quantity, systemClock, withTimeout } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'
import type { Tracing } from '@intake/tracing'
import { drainQueue } from './drain-queue.ts'
import type { DeliveryEvents, RowStore } from './ports.ts'
import { createRefusalRuns, type RefusalRuns } from './refusal-run.ts'

const mebibyte = 1024 * 1024

/** What a worker holds and inserts at once, and so its memory (docs/deploy/README.md). */
const batchLimits: Record<QueueName, BatchLimits> = {
  logs: { framesMax: 256, compressedBytesMax: 32 * mebibyte, jsonBytesMax: 64 * mebibyte },
  feedback: { framesMax: 32, compressedBytesMax: 16 * mebibyte, jsonBytesMax: 32 * mebibyte },
  outcomes: { framesMax: 64, compressedBytesMax: mebibyte, jsonBytesMax: 8 * mebibyte },
}
/** Outcome counts are not urgent, and gateways send them every ten seconds. */
const gatherMs: Partial<Record<QueueName, number>> = { outcomes: 2_000 }
/** How long an insert may continue when the worker closes; then its frames are released. */
const insertEndMs = 3_000
/** Timeout for completing or releasing frames when the worker closes. */
const closeTimeoutMs = 7_000

/** Longer than the minute after which the frame is handed out again: the problem stays visible. */
const unreadableMs = 2 * 60_000

export interface WorkerOptions {
  /** The worker closes these sources when it is closed. */
  sources: Record<QueueName, JobSource>
  store: RowStore
  /** Called with stored rows before their frames are completed; postponed when it rejects. */
  announceFeedback?: ((rows: readonly string[]) => Promise<void>) | undefined
  events: DeliveryEvents
  refusals?: RefusalRuns
  /** Reports a problem that an operator must be able to see for some minutes. */
  note: (code: 'frame_unreadable' | 'locks_lost', detail: string, lastsMs?: number) => void
  log: Logger
  /** Creates spans; undefined if tracing is off. */
  tracing?: Tracing | undefined
  /** Called for errors of the queues, which are retried. */
  onError: (error: Error) => void
  clock?: Clock
}

/** Moves frames from each queue into its table, one batch at a time per queue, until closed. */
export function startWorker(options: WorkerOptions): { close(): Promise<void> } {
  const { log, refusals = createRefusalRuns(), clock = systemClock } = options
  const stop = new AbortController()
  const queues = queueKinds.map((kind) =>
    startQueue(kind, { ...options, refusals, clock, signal: stop.signal }),
  )
  return {
    async close() {
      const closed = closeAll(queues)
      const timer = clock.setTimeout(() => stop.abort(), insertEndMs)
      try {
        await withTimeout(closed, closeTimeoutMs, 'closing the queues', clock)
      } catch (err) {
        const help = 'docs/operations/process-ends.md'
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

/** Closes all, even if one fails: the other queues must still release their frames. */
async function closeAll(queues: readonly { close(): Promise<void> }[]): Promise<void> {
  const closed = await Promise.allSettled(queues.map((queue) => queue.close()))
  const failures = closed.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'a queue was not closed')
}

/** @param options.signal aborts the insert in progress; its frames are then released */
function startQueue(
  kind: QueueName,
  options: WorkerOptions & { refusals: RefusalRuns; clock: Clock; signal: AbortSignal },
): { close(): Promise<void> } {
  const { announceFeedback, events, note, log, onError, clock } = options
  const source = options.sources[kind]
  const consumer = createFrameConsumer({
    source,
    onError(error) {
      events.queueFailed(kind)
      onError(error)
    },
    onUnreadable(err) {
      events.unreadable(kind)
      note('frame_unreadable', `a frame of ${kind}: ${err.message}`, unreadableMs)
      const help = helpOf('frame_unreadable')
      log.error({ err, kind, help }, 'a frame cannot be read; it is kept')
    },
    onLocksLost(frames) {
      events.locksLost(kind, frames)
      note('locks_lost', `${quantity(frames, 'frame')} of ${kind}`)
      const help = helpOf('locks_lost')
      log.warn({ kind, frames, help }, 'locks lost: another worker may store the same rows again')
    },
    gatherMs: gatherMs[kind],
    clock,
  })
  const drained = drainQueue({
    consumer,
    limits: batchLimits[kind],
    store: {
      store: options.store,
      ...(kind === 'feedback' && announceFeedback && { announce: announceFeedback }),
      kind,
      events,
      log,
      tracing: options.tracing,
      refusalRun: options.refusals[kind],
      signal: options.signal,
      clock,
    },
  })
  return {
    async close() {
      consumer.close()
      try {
        await drained
      } finally {
        await source.close()
      }
    },
  }
}
