import type { RecordKind } from '@intake/contract'
import { Counter, type Registry } from '@intake/runtime'

export interface WorkerMetrics {
  inserted(kind: RecordKind, rows: number): void
}

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const rows = new Counter({
    name: 'intake_rows_inserted_total',
    help: 'Rows that ClickHouse has confirmed; a redelivered row counts again.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const inserts = new Counter({
    name: 'intake_inserts_total',
    help: 'Inserts that ClickHouse has confirmed.',
    labelNames: ['kind'],
    registers: [registry],
  })
  return {
    inserted(kind, count) {
      rows.inc({ kind }, count)
      inserts.inc({ kind })
    },
  }
}
