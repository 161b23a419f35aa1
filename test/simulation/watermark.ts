import type { RecordKind } from '@intake/contract'
import type { Row } from './row.ts'
import type { Table } from './table.ts'
import type { Coverage } from './coverage.ts'

/** A record that a gateway has acknowledged. */
export interface Acknowledged extends Pick<Row, 'id' | 'device_uuid'> {
  kind: RecordKind
  /** When the record arrived, by the gateway's clock. */
  receivedAtMs: number
  /** When the record was acknowledged, by Redis's clock. */
  acknowledgedAtMs: number
}

/**
 * Checks, at every moment, that all acknowledged records before the stored watermark are visible.
 */
export interface Watermark {
  acknowledge(record: Acknowledged): void
  /** Called when a worker has stored `untilMs` as the watermark. */
  store(kind: RecordKind, untilMs: number): void
  /**
   * Describes each acknowledged record that was not visible although its time was before a
   * watermark. Its time is when it arrived or when it was acknowledged, whichever is earlier.
   */
  early(): string[]
}

export function createWatermark(options: {
  tables: Record<RecordKind, Pick<Table, 'has'>>
  coverage: Coverage
}): Watermark {
  const { tables, coverage } = options
  const untilMs: Record<RecordKind, number> = { logs: -Infinity, feedback: -Infinity }
  const acknowledged: Acknowledged[] = []
  const early = new Set<string>()

  function check(record: Acknowledged): void {
    const { kind, id, receivedAtMs, acknowledgedAtMs } = record
    const atMs = Math.min(receivedAtMs, acknowledgedAtMs)
    if (atMs >= untilMs[kind]) return
    coverage['records before a watermark']++
    const isVisible = tables[kind].has(record)
    if (!isVisible) early.add(`${id}, ${untilMs[kind] - atMs} ms before the watermark`)
  }

  return {
    acknowledge(record) {
      acknowledged.push(record)
      check(record)
    },
    store(kind, moment) {
      untilMs[kind] = Math.max(untilMs[kind], moment)
      for (const record of acknowledged) if (record.kind === kind) check(record)
    },
    early: () => [...early],
  }
}
