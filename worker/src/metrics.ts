import type { FailureKind } from '@intake/clickhouse'
import type { QueueName } from '@intake/queue'
import { Counter, type Registry } from '@intake/runtime'

export interface WorkerMetrics {
  inserted(kind: QueueName, rows: number): void
  failed(kind: QueueName, failure: FailureKind): void
  deadLettered(kind: QueueName): void
  postponed(kind: QueueName, frames: number): void
  unreadable(kind: QueueName): void
  locksLost(kind: QueueName, frames: number): void
}

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })

  const rows = counter(
    'intake_rows_inserted_total',
    'Rows that ClickHouse has confirmed; a redelivered row counts again.',
    ['kind'],
  )
  const inserts = counter('intake_inserts_total', 'Inserts that ClickHouse has confirmed.', [
    'kind',
  ])
  const failures = counter(
    'intake_insert_failures_total',
    'Inserts that failed, by kind of failure: retry, split, operator or rejected.',
    ['kind', 'failure'],
  )
  const deadLetters = counter('intake_dead_letters_total', 'Rows that became dead letters.', [
    'kind',
  ])
  const postponed = counter(
    'intake_frames_postponed_total',
    'Frames with a row that failed by itself; they are kept and retried.',
    ['kind'],
  )
  const unreadable = counter(
    'intake_frames_unreadable_total',
    'Frames of an unknown version or with a wrong checksum; they are kept and retried.',
    ['kind'],
  )
  const locksLost = counter(
    'intake_frame_locks_lost_total',
    'Claimed frames that another worker may have taken over.',
    ['kind'],
  )

  return {
    inserted(kind, count) {
      rows.inc({ kind }, count)
      inserts.inc({ kind })
    },
    failed: (kind, failure) => failures.inc({ kind, failure }),
    deadLettered: (kind) => deadLetters.inc({ kind }),
    postponed: (kind, frames) => postponed.inc({ kind }, frames),
    unreadable: (kind) => unreadable.inc({ kind }),
    locksLost: (kind, frames) => locksLost.inc({ kind }, frames),
  }
}
