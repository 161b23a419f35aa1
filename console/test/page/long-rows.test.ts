import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { QueryParams } from '@intake/clickhouse'
import { readFeedbackCsv } from '../../src/page/feedback-csv.ts'
import { listRecords } from '../../src/page/list-records.ts'
import { pollArrivals } from '../../src/page/live-events.ts'
import type { RecordReader } from '../../src/page/records.ts'

/** A reader that finds `count` rows, and notes how many rows each query reads long columns of. */
function createReader(count: number) {
  const head = () => ({
    id: randomUUID(),
    time: '2026-11-29 12:00:00.000',
    bundle_identifier: 'com.example.app',
    device_uuid: randomUUID(),
  })
  const heads = Array.from({ length: count }, head)
  const read: number[] = []
  const reader: RecordReader = {
    async query<Row>(sql: string, params?: QueryParams) {
      const ids = params?.['ids'] as string[] | undefined
      if (/\b(?:params|extra)\b/.test(sql)) read.push(ids?.length ?? Infinity)
      return (ids === undefined ? heads : ids.map((id) => ({ id, id_: id }))) as Row[]
    },
    lines: async () => [],
  }
  return { reader, heads, read }
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

t.test('a poll of live reads at most 25 rows of any size at once', async (t) => {
  const { reader, heads, read } = createReader(120)
  const { rows } = await pollArrivals(reader, {}, { sinceMs: 0, nowMs: 1 })
  t.same(read, [25, 25, 25, 25, 20])
  t.same(idsOf(rows), idsOf(heads))
})

t.test('a list of events reads at most 25 rows of any size at once', async (t) => {
  const { reader, heads, read } = createReader(40)
  const { rows } = await listRecords(reader, 'logs', { from: new Date(Date.now() - 1_000) })
  t.same(read, [25, 15])
  t.same(idsOf(rows), idsOf(heads))
})

t.test('a file of feedback reads at most 25 rows of any size at once', async (t) => {
  const { reader, heads, read } = createReader(70)
  const csv = await readFeedbackCsv(reader, {}, { from: 0, to: 1 })
  t.same(read, [25, 25, 20])
  t.ok(heads.every(({ id }) => csv.includes(id)))
})
