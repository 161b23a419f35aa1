import t from 'tap'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { feedbackRow, insertRows, logRow, startServer, uuidV7 } from '../../schema/test/fixture.ts'

const { server, connect } = await startServer(t)
const owner = connect(t)
// Stops merges, so that versions of a record remain in separate parts.
await owner.command('SYSTEM STOP MERGES')
const reader = server.unconfined === undefined ? server.analystUrl : server.url
const analyst = openClickHouse(t, { url: reader })

const day = 86_400_000
const start = Date.parse('2026-10-05T00:00:00Z')
const device = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const request = (index: number) => `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`

/** 200 devices with 200 events each: four a day for fifty days, from two applications. */
const events = Array.from({ length: 40_000 }, (_, index) => {
  const time = new Date(start + (index % 200) * (day / 4) + index).toISOString()
  const number = Math.floor(index / 200)
  return logRow({
    id: uuidV7(time),
    time,
    received_at: time,
    bundle_identifier: number % 2 === 0 ? 'com.example.one' : 'com.example.two',
    device_uuid: device(number),
    unique_user_id: `user-${number}`,
    request_id: request(index),
    event: 'opened',
  })
})
const insert = (rows: readonly object[]) => insertRows(owner, 'logs', rows)
await insert(events)
await owner.command('SYSTEM START MERGES')
await owner.command('OPTIMIZE TABLE intake.logs_raw FINAL')
await owner.command('SYSTEM STOP MERGES')

const count = async (where: string) => {
  const [row] = await analyst.query<{ n: number }>(
    `SELECT count() AS n FROM intake.logs WHERE ${where}`,
  )
  return row?.n
}

const granules = async (where: string) => {
  const lines = await owner.query<{ explain: string }>(
    `EXPLAIN indexes = 1 SELECT time, event FROM intake.logs WHERE ${where}`,
  )
  const text = lines.map(({ explain }) => explain).join('\n')
  return [...text.matchAll(/Granules: (\d+)\/(\d+)/g)].map(([, some, all]) => [+some!, +all!])
}

t.test('a lookup by id, device, user or request reads few granules', async (t) => {
  const chosen = events[20_000]!
  const wheres = {
    [`id = '${chosen.id}'`]: 1,
    [`device_uuid = '${chosen.device_uuid}'`]: 200,
    [`unique_user_id = '${chosen.unique_user_id}'`]: 200,
    [`request_id = '${chosen.request_id}'`]: 1,
  }
  for (const [where, rows] of Object.entries(wheres)) {
    t.equal(await count(where), rows, where)
    const read = await granules(where)
    t.ok(Math.max(...read.map(([, all = 0]) => all)) >= 15, 'the table has many granules')
    if (rows === 1) t.ok(Math.min(...read.map(([some = 0]) => some)) <= 3, where)
  }
})

t.test('a filter on application and time uses the primary key', async (t) => {
  const where = `bundle_identifier = 'com.example.one' AND time >= '2026-10-20' AND time < '2026-10-22'`
  t.equal(await count(where), 800)
  const read = await granules(where)
  const least = Math.min(...read.map(([some = 0]) => some))
  const most = Math.max(...read.map(([, all = 0]) => all))
  t.ok(least <= most / 5, `${least} of ${most} granules`)
})

t.test('an end or a beginning far away hides nothing', async (t) => {
  const app = `bundle_identifier = 'com.example.one'`
  for (const end of ['2105-01-01', '2107-01-01', '2150-01-01', '2199-12-31', '2299-12-31']) {
    t.equal(await count(`${app} AND time < '${end}'`), 20_000, end)
    t.equal(await count(`${app} AND time < toDateTime64('${end}', 3)`), 20_000, end)
    t.equal(await count(`${app} AND time > '${end}'`), 0, end)
  }
  for (const begin of ['1900-01-01', '1969-12-31', '1970-01-01']) {
    t.equal(await count(`${app} AND time > toDateTime64('${begin}', 3)`), 20_000, begin)
  }
})

t.test('a lookup by a value of a losing version finds nothing', async (t) => {
  const first = events[10_000]!
  const received_at = new Date(Date.parse(first.received_at) + day).toISOString()
  const repeat = { ...first, received_at, unique_user_id: 'loser', request_id: request(99_999) }
  await insert([repeat])
  t.equal(await count(`unique_user_id = 'loser'`), 0)
  t.equal(await count(`request_id = '${request(99_999)}'`), 0)
  t.equal(await count(`request_id = '${first.request_id}'`), 1)
  t.equal(await count(`id = '${first.id}'`), 1)
  t.equal(await count(`id = '${first.id}' AND unique_user_id = 'loser'`), 0)
  t.equal(await count(`device_uuid = '${first.device_uuid}'`), 200)
})

t.test('no lookup finds an erased record, whose tombstone has only the identity', async (t) => {
  const erased = events[30_000]!
  await owner.command(
    `INSERT INTO intake.logs_raw (id, time, bundle_identifier, device_uuid, ver, is_deleted) VALUES
     ({id:UUID}, {time:DateTime64(3, 'UTC')}, {app:String}, {device:UUID}, 18446744073709551615, 1)`,
    {
      id: erased.id,
      time: erased.time.replace('T', ' ').replace('Z', ''),
      app: erased.bundle_identifier,
      device: erased.device_uuid,
    },
  )
  t.equal(await count(`id = '${erased.id}'`), 0)
  t.equal(await count(`request_id = '${erased.request_id}'`), 0)
  t.equal(await count(`unique_user_id = '${erased.unique_user_id}'`), 199)
  t.equal(await count(`device_uuid = '${erased.device_uuid}'`), 199)
  t.equal(await count(`unique_user_id = '${erased.unique_user_id}' AND event = 'opened'`), 199)
})

t.test('a lookup of feedback by its id works the same', async (t) => {
  const row = feedbackRow()
  await insertRows(owner, 'feedback', [row])
  const found = await analyst.query(`SELECT text FROM intake.feedback WHERE id = '${row.id}'`)
  t.same(found, [{ text: 'Good' }])
})
