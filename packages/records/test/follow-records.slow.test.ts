import { randomUUID } from 'node:crypto'
import t from 'tap'
import { insertRows, logRow, startServer, uuidV7 } from '../../schema/test/fixture.ts'
import { followRecords, type FollowFilter } from '../src/index.ts'

const { connect } = await startServer(t)
const owner = connect(t)
const insert = (rows: object[]) => insertRows(owner, 'logs', rows)
const visibleUntil = (ms: number) =>
  insertRows(owner, 'watermark', [{ kind: 'logs', visible_until: new Date(ms).toISOString() }])
const sqlTime = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, -1)

const event = (receivedMs: number, fields: { ageMs?: number; [name: string]: unknown } = {}) => {
  const { ageMs = 0, ...others } = fields
  const time = new Date(receivedMs - ageMs).toISOString()
  return logRow({
    id: uuidV7(time),
    time,
    received_at: new Date(receivedMs).toISOString(),
    ...others,
  })
}

/** Follows the records until `options.records` of them were shown, and then for two more polls. */
async function follow(options: { since: number; records: number; filter?: FollowFilter }) {
  const { since, records, filter = {} } = options
  const ending = new AbortController()
  const shown: { id: string; event: string }[] = []
  let completeUntil: string | undefined
  let polls = 0
  for await (const found of followRecords({
    clickhouse: owner,
    kind: 'logs',
    filter,
    since: sqlTime(since),
    columns: 'id, event',
    signal: ending.signal,
  })) {
    shown.push(...found.lines.map((line) => JSON.parse(line) as { id: string; event: string }))
    if (found.lines.length > 0) continue
    completeUntil = found.completeUntil
    if (shown.length >= records && ++polls === 3) ending.abort()
  }
  return { shown, completeUntil }
}

t.test('each of 21,000 events is shown once, in whatever order they become visible', async (t) => {
  const start = Date.now()
  const frames = Array.from({ length: 30 }, (__, frame) =>
    Array.from({ length: 700 }, (_, n) =>
      event(start + frame * 100 + (n % 100), n % 50 === 0 ? { ageMs: 3 * 3_600_000 } : {}),
    ),
  )
  const following = follow({ since: start, records: 21_000 })
  // Simulates workers. They store frames out of order. They store some frames twice, as after a
  // kill between the insert and the completion of the job. The watermark is the arrival of the
  // oldest frame that is not stored.
  const waiting = [...frames.keys()]
  while (waiting.length > 0) {
    const place = Math.floor(Math.random() * Math.min(8, waiting.length))
    const [frame = 0] = waiting.splice(place, 1)
    await insert(frames[frame] ?? [])
    if (frame % 4 === 0) await insert(frames[Math.max(0, frame - 3)] ?? [])
    await visibleUntil(start + Math.min(frames.length, ...waiting) * 100)
  }
  const { shown, completeUntil } = await following
  t.equal(shown.length, 21_000)
  t.equal(new Set(shown.map(({ id }) => id)).size, 21_000)
  t.equal(completeUntil, sqlTime(start + frames.length * 100))
  // The first poll finds all 21,000 records, which are more than one page.
  const again = await follow({ since: start, records: 21_000 })
  t.equal(again.shown.length, 21_000)
  t.equal(new Set(again.shown.map(({ id }) => id)).size, 21_000)
})

t.test('an event that waited in the queue is shown, although later ones were before', async (t) => {
  const start = Date.now() + 3_600_000
  const bundle_identifier = 'com.example.waited'
  await visibleUntil(start)
  await insert([event(start + 5_000, { bundle_identifier, event: 'first to be stored' })])
  const following = follow({ since: start, records: 2, filter: { bundle: bundle_identifier } })
  await insert([event(start + 1_000, { bundle_identifier, event: 'waited' })])
  await visibleUntil(start + 10_000)
  const { shown } = await following
  t.same(new Set(shown.map((row) => row.event)), new Set(['first to be stored', 'waited']))
})

t.test('a repeat that arrives later shows nothing again', async (t) => {
  const start = Date.now() + 2 * 3_600_000
  const bundle_identifier = 'com.example.repeated'
  const row = event(start + 1_000, { bundle_identifier })
  await insert([row])
  await visibleUntil(start + 60_000)
  const following = follow({ since: start, records: 2, filter: { bundle: bundle_identifier } })
  await insert([{ ...row, received_at: new Date(start + 120_000).toISOString() }])
  await insert([event(start + 121_000, { bundle_identifier, event: 'last' })])
  const { shown } = await following
  const events = shown.map((one) => one.event)
  t.same(events, ['opened', 'last'])
})

t.test('filters choose by application, event, device, user and key', async (t) => {
  const start = Date.now() + 4 * 3_600_000
  const device = randomUUID()
  const fields = {
    bundle_identifier: 'com.example.filter',
    event: 'wanted',
    device_uuid: device,
    unique_user_id: 'anna',
    api_key_id: 'key-9',
  }
  await insert([event(start + 1, fields), event(start + 2, { event: 'other' })])
  const filters: FollowFilter[] = [
    { bundle: 'com.example.filter' },
    { event: 'wanted' },
    { device },
    { user: 'anna' },
    { key: 'key-9' },
    { bundle: 'com.example.filter', key: 'key-9', event: 'wanted' },
  ]
  const followed = filters.map(async (filter) => {
    const { shown } = await follow({ since: start, records: 1, filter })
    const events = shown.map((one) => one.event)
    t.same(events, ['wanted'], JSON.stringify(filter))
  })
  await Promise.all(followed)
})

t.test('events of one batch are shown in the order in which they happened', async (t) => {
  const since = Date.now() + 3_600_000
  const bundle_identifier = 'com.example.batch'
  const names = Array.from({ length: 30 }, (_, n) => `step ${n}`)
  // ClickHouse does not sort UUIDs by the time that they contain, so the ids alone give no order.
  await insert(
    names.map((name, n) => event(since, { ageMs: 1_000 - n, event: name, bundle_identifier })),
  )
  const { shown } = await follow({
    since,
    records: names.length,
    filter: { bundle: bundle_identifier },
  })
  const found = shown.map((one) => one.event)
  t.same(found, names)
})

t.test('a poll of feedback reads no facts about attachments of long ago', async (t) => {
  await owner.command(
    `INSERT INTO intake.attachments_raw (bundle_identifier, time, id, device_uuid)
     SELECT 'shop', now64(3, 'UTC') - toIntervalDay(if(number < 5_000, 90, 10)), generateUUIDv4(), generateUUIDv4()
     FROM numbers(5_010)`,
  )
  const ending = new AbortController()
  const read: number[] = []
  const clickhouse: typeof owner = {
    ...owner,
    async query(sql, params, options) {
      if (sql.includes('ORDER BY')) {
        const rows = await owner.query<{ table: string; rows: number }>(
          `EXPLAIN ESTIMATE ${sql}`,
          params,
        )
        read.push(rows.find(({ table }) => table === 'attachments_raw')?.rows ?? 0)
        ending.abort()
      }
      return owner.query(sql, params, options)
    },
  }
  const following = followRecords({
    clickhouse,
    kind: 'feedback',
    filter: {},
    since: sqlTime(Date.now()),
    columns: 'id',
    signal: ending.signal,
  })
  for await (const { lines } of following) t.same(lines, [])
  t.same(read, [10])
})
