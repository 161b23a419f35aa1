import t from 'tap'
import { limits } from '@intake/contract'
import { failureOf, insertRows, logRow, startServer, uuidV7 } from './fixture.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)
const { after, before } = limits.recordTimeMs

const insert = (timeMs: number) => {
  const time = new Date(timeMs).toISOString()
  const row = logRow({ id: uuidV7(time), time, received_at: time })
  return insertRows(clickhouse, 'logs', [row])
}

t.test('the tables accept every time that a gateway may assign to a record', async (t) => {
  const times = [after + 1, before - 1]
  for (const time of times) await insert(time)
  const rows = await clickhouse.query<{ time: number; ver: number; month: number }>(
    `SELECT toUnixTimestamp64Milli(time) AS time, ver, toUInt32(partition) AS month
     FROM (SELECT time, ver, _partition_id AS partition FROM intake.logs_raw) ORDER BY time`,
  )
  t.same(
    rows,
    times.map((time, i) => ({ time, ver: 10 ** 13 - time, month: [202001, 219912][i] })),
  )
})

t.test('the tables reject all other times', async (t) => {
  for (const time of [after, before]) t.equal((await failureOf(insert(time))).code, 469)
})
