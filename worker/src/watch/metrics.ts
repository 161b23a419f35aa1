import type { FailureKind } from '@intake/clickhouse'
import { perQueue, queueKinds, type QueueName } from '@intake/queue'
import { systemClock, type Clock } from '@intake/runtime'
import { addGauge, byKind, metricsOf, type Registry } from '@intake/runtime/process'
import type { DeliveryEvents } from '../deliver/ports.ts'
import { createLoopState, type Activity } from './activity.ts'

export interface WorkerMetrics extends DeliveryEvents {
  activity(kind: QueueName): Activity
}

const failureKinds: readonly FailureKind[] = ['retry', 'operator', 'split', 'rejected']
const insertSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const insertRows = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
const visibleSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 43_200]

export function createWorkerMetrics(
  registry: Registry,
  { clock = systemClock }: { clock?: Clock } = {},
): WorkerMetrics {
  const loops = perQueue(() => createLoopState(clock))
  const inserts = insertMetrics(registry)
  const frames = frameCounters(registry)
  addGauge(registry, {
    name: 'intake_insert_in_progress_seconds',
    help: 'How long the insert in progress has been running; 0 if there is none.',
    labels: ['kind'],
    read: byKind(queueKinds, (kind) => (loops[kind].activity().insertMs ?? 0) / 1_000),
  })

  function endInsert(kind: QueueName, result: 'stored' | 'failed'): void {
    const ms = loops[kind].insertEnded()
    if (ms !== undefined) inserts.duration.observe({ kind, result }, ms / 1_000)
  }

  return {
    waitsForFrames: (kind) => loops[kind].waits(),
    queueFailed: (kind) => loops[kind].waitsAnew(),
    taken(kind, taken) {
      loops[kind].took()
      const repeated = taken.filter(({ attempts }) => attempts > 1)
      const rows = repeated.reduce((sum, frame) => sum + frame.rows, 0)
      frames.redelivered.inc({ kind }, repeated.length)
      frames.redeliveredRows.inc({ kind }, rows)
    },
    insertBegan: (kind) => loops[kind].insertBegan(),
    inserted(kind, rows) {
      endInsert(kind, 'stored')
      loops[kind].stored(rows)
      inserts.rows.inc({ kind }, rows)
      inserts.confirmed.inc({ kind })
      inserts.rowsPerInsert.observe({ kind }, rows)
    },
    failed(kind, failure, reason) {
      endInsert(kind, 'failed')
      loops[kind].failed(failure, reason)
      inserts.failures.inc({ kind, failure })
    },
    visible(kind, { receivedAtMs }) {
      if (receivedAtMs === undefined) return
      // The clock of this machine may be behind that of the gateway.
      inserts.visibleDelay.observe({ kind }, Math.max(0, Date.now() - receivedAtMs) / 1_000)
    },
    deadLettered: (kind) => frames.deadLetters.inc({ kind }),
    postponed: (kind, count) => frames.postponed.inc({ kind }, count),
    batchEnded: (kind) => loops[kind].batchEnded(),
    unreadable(kind) {
      frames.unreadable.inc({ kind })
      // A loop that claims only unreadable frames is alive, so it must not be reported as stuck.
      loops[kind].waitsAnew()
    },
    locksLost: (kind, count) => frames.locksLost.inc({ kind }, count),
    activity: (kind) => loops[kind].activity(),
  }
}

function insertMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry)
  return {
    duration: histogram(
      'intake_insert_duration_seconds',
      'Duration of an insert, by result: stored or failed.',
      ['kind', 'result'],
      insertSeconds,
    ),
    rowsPerInsert: histogram(
      'intake_insert_rows',
      'Rows of an insert that ClickHouse has confirmed.',
      ['kind'],
      insertRows,
    ),
    visibleDelay: histogram(
      'intake_visible_delay_seconds',
      'From the arrival of the oldest record of a frame until all its rows are visible; a redelivered frame counts again.',
      ['kind'],
      visibleSeconds,
    ),
    rows: counter(
      'intake_rows_inserted_total',
      'Rows that ClickHouse has confirmed; a redelivered row counts again.',
      ['kind'],
    ),
    confirmed: counter('intake_inserts_total', 'Inserts that ClickHouse has confirmed.', ['kind']),
    failures: counter(
      'intake_insert_failures_total',
      'Inserts that failed, by kind of failure: retry, split, operator or rejected.',
      ['kind', 'failure'],
      queueKinds.flatMap((kind) => failureKinds.map((failure) => ({ kind, failure }))),
    ),
  }
}

function frameCounters(registry: Registry) {
  const ofKinds = queueKinds.map((kind) => ({ kind }))
  const counter = (name: string, help: string) =>
    metricsOf(registry).counter(name, help, ['kind'], ofKinds)
  return {
    redelivered: counter('intake_frames_redelivered_total', 'Frames that were handed out before.'),
    redeliveredRows: counter(
      'intake_rows_redelivered_total',
      'Rows of redelivered frames: the maximum number of duplicates that FINAL hides.',
    ),
    deadLetters: counter('intake_dead_letters_total', 'Rows that became dead letters.'),
    postponed: counter(
      'intake_frames_postponed_total',
      'Frames put back to be retried later: a row failed by itself, or stored feedback could not be announced.',
    ),
    unreadable: counter(
      'intake_frames_unreadable_total',
      'Frames of an unknown version or with a wrong checksum; they are kept and retried.',
    ),
    locksLost: counter(
      'intake_frame_locks_lost_total',
      'Claimed frames that another worker may have taken over.',
    ),
  }
}
