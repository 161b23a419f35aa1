import type { FailureKind } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { Counter, type Registry } from '@intake/runtime'

export interface WorkerMetrics {
  inserted(kind: RecordKind, rows: number): void
  failed(kind: RecordKind, failure: FailureKind): void
  buried(kind: RecordKind): void
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
    'Inserts that failed, by what the failure asks for: retry, hold (a person) or data (split).',
    ['kind', 'failure'],
  )
  const deadLetters = counter('intake_dead_letters_total', 'Rows that became dead letters.', [
    'kind',
  ])

  return {
    inserted(kind, count) {
      rows.inc({ kind }, count)
      inserts.inc({ kind })
    },
    failed: (kind, failure) => failures.inc({ kind, failure }),
    buried: (kind) => deadLetters.inc({ kind }),
  }
}
