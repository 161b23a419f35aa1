import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { importKeyId, limits } from '@intake/contract'
import {
  insertRows,
  logRow,
  refusal,
  startServer,
  uuidV7,
  withSettings,
} from '../../schema/test/fixture.ts'
import {
  addDeadLetter,
  countNames,
  readDeadLetters,
  refreshCounts,
  replayDeadLetters,
  writeTombstones,
} from '../src/index.ts'

const { server, connect } = await startServer(t)
const owner = connect(t)
const reader = connect(t, { url: server.readerUrl })
const store = connect(t, { url: server.workerUrl })

/**
 * A test that begins without records and counts: otherwise each call would count those of earlier
 * tests again. `t.beforeEach` would also empty the tables of other files in this process.
 */
function test(name: string, run: (t: Test) => Promise<unknown>): void {
  void t.test(name, async (t) => {
    await empty()
    await run(t)
  })
}

async function empty(): Promise<void> {
  for (const table of ['logs', 'hours', 'days', 'recounts'])
    await owner.command(`TRUNCATE TABLE intake.${table}_raw`)
}

const insert = (rows: readonly object[]) => insertRows(store, 'logs', rows)
/** Counts with the rights that a worker has. */
async function refresh(): Promise<void> {
  for (const name of countNames) await refreshCounts({ reader, store, name })
}
const until = (visible_until: string) =>
  insertRows(store, 'watermark', [{ kind: 'logs', visible_until }])
/** Columns of the rows of an application in a view. */
const rowsOf = (view: string, bundle: string, columns = '1', rest = '') =>
  owner.query(
    `SELECT ${columns} FROM intake.${view} AS shown WHERE bundle_identifier = {bundle:String} ${rest}`,
    { bundle },
  )

const event = (time: string, fields: object = {}) =>
  logRow({ id: uuidV7(time), time, received_at: time, ...fields })

/** A time of arrival that is later than all watermarks of this test. */
const received_at = '2026-11-26T00:00:00.000Z'

/** The hours in which the counts differ from the records. */
const differences = () =>
  owner.query(
    `SELECT bundle_identifier, hour, event, version_name, sum(counted) AS counted, sum(stored) AS stored FROM (
       SELECT bundle_identifier, hour, event, version_name, events AS counted, 0 AS stored FROM intake.hours
       UNION ALL
       SELECT bundle_identifier, toStartOfHour(time), event, ifNull(device.version_name, ''), 0, count()
       FROM intake.logs GROUP BY ALL
     ) GROUP BY ALL HAVING counted != stored`,
  )
const countHours = async () => {
  const [row] = await owner.query<{ events: number }>(
    'SELECT sum(events) AS events FROM intake.hours',
  )
  return row?.events
}

const tooLarge = new ClickHouseError('too large', { kind: 'split', code: 241, isTooLarge: true })
const tooLate = new ClickHouseError('too slow', { kind: 'retry', code: 159 })
/** An hour that must be counted again, as `refreshCounts` finds it. */
const stale = (name: string, of_application = 1) => ({
  bundle_identifier: `com.example.${name}`,
  period: '2026-11-24 09:00:00',
  is_marked: 0,
  of_application,
})
const now = '2026-11-25 00:00:00.000'

/** Refreshes the hours that `found` says. `count` may refuse to count some applications. */
async function refreshFake(
  found: readonly object[],
  count: (applications: string[], sql: string) => void = () => {},
  options: Pick<Parameters<typeof refreshCounts>[0], 'clock' | 'onLate'> = {},
) {
  const inserted: [table: string, lines: object[]][] = []
  const fake = {
    query: async <Row>(sql: string) =>
      (sql.includes('AS until') ? [{ until: now, now, lastNow: now }] : [...found]) as Row[],
    lines: async (sql: string, params: Record<string, unknown> = {}) => {
      count(params['applications'] as string[], sql)
      return []
    },
  }
  const into = {
    insertRows: async ({ table, members }: { table: string; members: readonly Buffer[] }) => {
      const lines = gunzipSync(Buffer.concat([...members]))
        .toString()
        .trim()
        .split('\n')
      inserted.push([table, lines.map((line) => JSON.parse(line) as object)])
    },
  }
  const refreshed = refreshCounts({ reader: fake, store: into, name: 'hours', ...options })
  const [counted] = await Promise.allSettled([refreshed])
  return { counted, inserted }
}

interface Found {
  bundle_identifier: string
  period: string
}

/** Finds what must be counted in these times, without counting it. */
async function findStale(
  times: { lastUntil: string; lastNow: string; now: string },
  options: { name?: (typeof countNames)[number]; limit?: number; from?: typeof reader } = {},
) {
  const { name = 'hours', limit, from = reader } = options
  const found: Found[] = []
  let statements = 0
  const watched = {
    async query<Row>(sql: string, params: Record<string, unknown> = {}) {
      if (!sql.includes('intake.recounts')) return reader.query<Row>(sql, params)
      statements++
      const limited = limit === undefined ? sql : sql.replace(/LIMIT \d+/, `LIMIT ${limit}`)
      const rows = await from.query<Row>(limited, times)
      found.push(...(rows as Found[]))
      return rows
    },
    lines: async () => [],
  }
  const into = { insertRows: async () => {} }
  const counted = await refreshCounts({ reader: watched, store: into, name })
  return { found, statements, counted }
}

test('hours are equal to the records, after repeats, late events and an erasure', async (t) => {
  const device = randomUUID()
  const times = Array.from(
    { length: 50 },
    (_, n) => `2026-11-2${n % 3}T0${n % 7}:1${n % 6}:00.000Z`,
  )
  const rows = times.map((time, n) =>
    event(time, {
      event: `event ${n % 5}`,
      device: { version_name: `1.${n % 2}` },
      ...(n % 10 === 0 && { device_uuid: device, unique_user_id: 'erased' }),
    }),
  )
  await insert(rows)
  await until('2026-11-23T00:00:00.000Z')
  await refresh()
  t.same(await differences(), [])
  t.equal(await countHours(), 50)

  // Inserts repeats. One of them differs from the stored version: a gateway accepted it earlier
  // than that version, but it waited in the queue.
  const [first = event('')] = rows
  await insert(rows.slice(0, 20))
  await insert([{ ...first, event: 'earlier', received_at: '2026-11-19T23:59:00.000Z' }])
  await until('2026-11-23T01:00:00.000Z')
  await refresh()
  t.equal(await countHours(), 50)

  const late = { received_at: '2026-11-23T02:00:00.000Z' }
  await insert([
    event('2026-11-02T05:00:00.000Z', { ...late, bundle_identifier: 'com.example.late' }),
    event('2026-11-20T00:30:00.000Z', { ...late, event: 'late' }),
  ])
  await until('2026-11-23T03:00:00.000Z')
  await refresh()
  const wrong = (await differences()).filter(
    (row) => row['event'] !== 'earlier' && row['event'] !== 'event 0',
  )
  t.same(wrong, [])
  t.equal(await countHours(), 52)

  await writeTombstones(owner, { kind: 'user', id: 'erased' }, new Date(0))
  await refresh()
  t.equal(await countHours(), 47)
  const [states] = await owner.query<{ devices: number; exact: number }>(
    `SELECT (SELECT intake_devices(devices_state) FROM intake.device_hours) AS devices,
       (SELECT uniqExact(device_uuid) FROM intake.logs) AS exact`,
  )
  t.equal(states?.devices, states?.exact)
})

test('an hour whose only record was erased is counted as empty', async (t) => {
  const bundle_identifier = 'com.example.gone'
  await insert([event('2026-11-25T05:00:00.000Z', { bundle_identifier, unique_user_id: 'gone' })])
  await refresh()
  const views = ['hours', 'catalogue', 'device_hours']
  for (const view of views) t.equal((await rowsOf(view, bundle_identifier)).length, 1, view)
  await writeTombstones(owner, { kind: 'user', id: 'gone' }, new Date(0))
  await refresh()
  for (const view of views) t.same(await rowsOf(view, bundle_identifier), [], view)
})

test('an erased hour is counted again, although a merge has removed its records', async (t) => {
  const bundle_identifier = 'com.example.merged'
  const erased = { bundle_identifier, unique_user_id: 'merged' }
  await insert([
    event('2026-11-25T05:00:00.000Z', erased),
    event('2026-11-25T06:00:00.000Z', erased),
  ])
  await refresh()
  t.equal((await rowsOf('hours', bundle_identifier)).length, 2)
  const merging = {
    ...owner,
    async insertSelect(...args: Parameters<typeof owner.insertSelect>) {
      const written = await owner.insertSelect(...args)
      if (args[0].includes('INTO intake.logs_raw'))
        await owner.command('OPTIMIZE TABLE intake.logs_raw FINAL')
      return written
    },
  }
  await writeTombstones(merging, { kind: 'user', id: 'merged' }, new Date(0))
  await refresh()
  for (const view of ['hours', 'catalogue']) t.same(await rowsOf(view, bundle_identifier), [], view)
  const marks = () => rowsOf('recounts', bundle_identifier, 'hour, asked_at')
  t.equal((await marks()).length, 2)
  await owner.command(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour, asked_at)
     SELECT bundle_identifier, hour, now64(3, 'UTC') + INTERVAL 11 MINUTE FROM intake.recounts`,
  )
  const marked = await marks()
  await writeTombstones(owner, { kind: 'user', id: 'another' }, new Date(0))
  t.same(await marks(), marked, 'a tombstone gets one mark')
})

test('a replayed dead letter is counted, although it arrived long ago', async (t) => {
  const row = event('2026-11-21T09:00:00.000Z', { bundle_identifier: 'com.example.replayed' })
  await addDeadLetter(owner, { table: 'logs', row: JSON.stringify(row), refusal })
  await refresh()
  await replayDeadLetters(owner, await readDeadLetters(owner, row.id))
  await refresh()
  t.same(await rowsOf('hours', row.bundle_identifier, 'hour, events'), [
    { hour: '2026-11-21 09:00:00.000', events: 1 },
  ])
})

test('names beyond 2,000 in an hour are counted together', async (t) => {
  const bundle_identifier = 'com.example.names'
  const rows = Array.from({ length: 2_100 }, (_, n) =>
    event('2026-11-24T09:00:00.000Z', { bundle_identifier, event: `order ${n}` }),
  )
  await insert(rows)
  await refresh()
  const columns =
    "count() AS names, sum(shown.events) AS events, maxIf(shown.events, event = '') AS others"
  t.same(await rowsOf('hours', bundle_identifier, columns), [
    { names: 2_001, events: 2_100, others: 100 },
  ])
})

test('versions beyond 500 in an hour are counted together, with their devices', async (t) => {
  const bundle_identifier = 'com.example.versions'
  const of = (n: number, name = 'opened') =>
    event('2026-11-24T09:00:00.000Z', {
      bundle_identifier,
      event: name,
      device_uuid: randomUUID(),
      device: { version_name: `1.${n}`, version_code: n },
    })
  const rows = [
    ...Array.from({ length: 20 }, () => of(900)),
    ...Array.from({ length: 600 }, (_, n) => of(n, n % 2 === 0 ? 'opened' : 'closed')),
  ]
  await insert(rows)
  await refresh()
  t.same(
    await rowsOf(
      'hours',
      bundle_identifier,
      `uniqExact(version_name) AS versions, uniqExact(version_code) AS codes, sum(shown.events) AS events,
       sumIf(shown.events, version_name = '1.900') AS most,
       sumIf(shown.events, version_name = '' AND version_code IS NULL) AS others`,
    ),
    [{ versions: 501, codes: 500, events: 620, most: 20, others: 101 }],
  )
  const devices =
    'uniqExact(version_name) AS versions, intake_devices(devices_state) BETWEEN 600 AND 640 AS near'
  t.same(await rowsOf('device_hours', bundle_identifier, devices), [{ versions: 501, near: 1 }])
})

test('any number of applications is counted, however long their identifiers are', async (t) => {
  const time = '2026-11-24T13:00:00.000Z'
  const of = (n: number) => `${String(n).padStart(6, '0')}${'😀'.repeat(249)}`
  await insert(
    Array.from({ length: 350 }, (_, n) => event(time, { received_at, bundle_identifier: of(n) })),
  )
  await refresh()
  for (const view of ['hours', 'catalogue']) {
    const [row] = await owner.query(
      `SELECT uniqExact(bundle_identifier) AS applications FROM intake.${view} WHERE endsWith(bundle_identifier, '😀')`,
    )
    t.same(row, { applications: 350 }, view)
  }
})

test('what is too large for one statement is counted in halves', async (t) => {
  const sizes: number[] = []
  const seven = Array.from({ length: 7 }, (_, n) => stale(`half${n}`))
  const { counted, inserted } = await refreshFake(seven, ({ length }) => {
    if (length > 2) throw tooLarge
    sizes.push(length)
  })
  t.match(counted, { value: 7 })
  t.same(sizes, [2, 2, 2, 1])
  const lengths = inserted.map(([, { length }]) => length)
  t.same(lengths, [2, 2, 2, 1, 1], 'four inserts of empty hours, and the note that all was counted')
})

test('an application with many new events is counted after all others, alone', async (t) => {
  const order: string[][] = []
  const found = [stale('large', 1_000_000), stale('one', 2), stale('two', 1)]
  await refreshFake(found, (applications) => order.push(applications))
  t.same(order, [['com.example.one', 'com.example.two'], ['com.example.large']])
})

test('an application of which a day takes long is counted after all others, alone', async (t) => {
  const order: string[][] = []
  let nowMs = 0
  let lateMs = 0
  const found = [stale('slow'), stale('good'), stale('slow'), stale('good')].map((one, n) => ({
    ...one,
    period: `2026-11-${n < 2 ? 24 : 23} 09:00:00`,
  }))
  const count = (applications: string[], sql: string) => {
    order.push(applications)
    if (!applications.includes('com.example.slow')) return
    nowMs += 5_000
    if (sql.includes('max_execution_time = 5')) throw tooLate
  }
  const clock = { now: () => nowMs }
  const { counted } = await refreshFake(found, count, { clock, onLate: (ms) => (lateMs = ms) })
  const [slow, good] = ['com.example.slow', 'com.example.good']
  t.same(order, [[slow, good], [slow], [good], [good], [slow], [slow]])
  t.match(counted, { value: 4 })
  t.equal(lateMs, 20_000, 'what it took delays the next count less')
})

// Which days `intake.drift` leaves out is tested by packages/schema/test/drift.test.ts.
test('a day with more names than are counted is a warning', async (t) => {
  const bundle = 'com.example.cut'
  for (const [day, count] of [
    ['2026-11-21', limits.catalogueEntries],
    ['2026-11-22', 10],
  ] as const) {
    await owner.command(
      `INSERT INTO intake.days_raw (bundle_identifier, day, entries, warnings, ver)
       SELECT '${bundle}', toDate('${day}'), arrayMap(n ->
         (concat('e', toString(n)), '', 'event', 1, '1', now64(3, 'UTC'), now64(3, 'UTC'), 1, 1), range(${count})), [], 1`,
    )
  }
  t.same(await rowsOf('warnings', bundle, 'warning, first_seen'), [
    { warning: 'catalogue_cut', first_seen: '2026-11-21 00:00:00.000' },
  ])
})

test('an application that cannot be counted delays no other', async (t) => {
  const others: string[] = []
  const found = ['evil', 'good', 'other'].map((name) => stale(name))
  const { counted, inserted } = await refreshFake(found, (applications) => {
    if (applications.includes('com.example.evil')) throw tooLarge
    others.push(...applications)
  })
  t.match(counted, { reason: tooLarge })
  t.same(others, ['com.example.good', 'com.example.other'])
  // 2026-11-24 09:00 is fifteen hours old, so the pause is seven and a half hours.
  const mark = {
    bundle_identifier: 'com.example.evil',
    hour: '2026-11-24T09:00:01.000Z',
    asked_at: '2026-11-25T07:30:00.000Z',
  }
  t.match(inserted.slice(-2), [
    ['recounts', [mark]],
    ['counted', [{ name: 'hours' }]],
  ])
})

test('what is counted only within bounds is tried again later, and said', async (t) => {
  let statements = 0
  const { counted, inserted } = await refreshFake([stale('evil')], (_, sql) => {
    statements++
    if (!sql.includes('max_rows_to_group_by')) throw tooLarge
  })
  t.match(counted, { reason: tooLarge })
  t.equal(statements, 2)
  const tables = inserted.map(([table]) => table)
  t.same(tables, ['hours', 'recounts', 'counted'])
})

test('who invents applications delays neither marked hours nor other senders', async (t) => {
  const lately = '2026-12-20T00:00:00.000Z'
  const of = (bundle_identifier: string, time: string, api_key_id = 'key_of_others') =>
    event(time, { bundle_identifier, received_at: lately, api_key_id })
  const hour = (n: number) => `2026-12-19T${String(n).padStart(2, '0')}:00:00.000Z`
  await insert([
    ...Array.from({ length: 20 }, (_, n) => of(`com.invented.n${n}`, hour(23), 'key_of_one')),
    // Many events in each of many hours.
    ...Array.from({ length: 80 }, (_, n) => of('com.invented.hours', hour(n % 20), 'key_of_one')),
    of('com.example.late', '2026-12-01T01:00:00.000Z'),
    of('com.example.late', '2026-12-01T02:00:00.000Z'),
  ])
  await owner.command(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour, asked_at)
     VALUES ('com.example.erased', '2026-12-03 00:00:00', '2020-01-01 12:00:00')`,
  )
  // Finds four instead of 900,000, and only what this test has inserted.
  const times = {
    lastUntil: '2026-12-19 00:00:00.000',
    lastNow: '2020-01-01 00:00:00.000',
    now: '2020-01-02 00:00:00.000',
  }
  const { found } = await findStale(times, { limit: 4 })
  const bundles = found.map(({ bundle_identifier }) => bundle_identifier)
  t.match(bundles, [
    'com.example.erased',
    'com.invented.hours',
    'com.example.late',
    'com.example.late',
  ])
})

test('the applications of one key take turns, the newest hour of each first', async (t) => {
  const lately = '2026-12-24T00:00:00.000Z'
  const of = (bundle_identifier: string, hour: number) =>
    event(`2026-12-23T${String(hour).padStart(2, '0')}:00:00.000Z`, {
      bundle_identifier,
      received_at: lately,
    })
  await insert([
    ...Array.from({ length: 60 }, (_, n) => of('com.invented.hours', n % 20)),
    of('com.example.small', 1),
  ])
  const times = {
    lastUntil: '2026-12-23 00:00:00.000',
    lastNow: '2020-01-03 00:00:00.000',
    now: '2020-01-03 00:00:00.000',
  }
  const { found } = await findStale(times, { limit: 3 })
  t.match(found, [
    { bundle_identifier: 'com.invented.hours', period: '2026-12-23 19:00:00' },
    { bundle_identifier: 'com.example.small' },
    { bundle_identifier: 'com.invented.hours', period: '2026-12-23 18:00:00' },
  ])
})

test('what is beyond the first hours is counted for a limited time, then later', async (t) => {
  const refreshMany = async (hours: number, firstMs = 500) => {
    const found = Array.from({ length: hours }, (_, n) => stale(`n${n}`))
    let nowMs = 0
    let lateMs = 0
    let statements = 0
    const count = () => (nowMs += statements++ < 20 ? firstMs : 30_000)
    const refreshed = await refreshFake(found, count, {
      clock: { now: () => nowMs },
      onLate: (ms) => (lateMs = ms),
    })
    const [, marks] = refreshed.inserted.find(([table]) => table === 'recounts') ?? []
    return { counted: refreshed.counted, lateMs, marks }
  }
  // Within a minute, three statements begin, with 100 applications each.
  t.match(await refreshMany(2_300), { counted: { value: 2_300 }, lateMs: 90_000, marks: undefined })
  const { counted, lateMs, marks = [] } = await refreshMany(2_400)
  t.match(counted, { value: 2_300 })
  t.equal(lateMs, 90_000)
  t.equal(marks.length, 100)
  const first = { bundle_identifier: 'com.example.n2300', asked_at: '2026-11-25T00:10:00.000Z' }
  t.match(marks[0], first)
  // Of the first ones, 16 statements begin within 15 s, and the next four take none of the minute.
  t.match(await refreshMany(2_000, 1_000), { counted: { value: 2_000 }, lateMs: 4_000 })
})

test('versions of a megabyte as names are counted, each by itself', async (t) => {
  const bundle_identifier = 'com.example.long'
  const of = (end: string) =>
    event('2026-11-24T14:00:00.000Z', {
      bundle_identifier,
      received_at,
      device: { version_name: `${'v'.repeat(1_000_000)}${end}` },
    })
  await insert([of('a'), of('b')])
  await refresh()
  const columns = 'uniqExact(version_name) AS versions, max(length(version_name)) < 1000 AS isShort'
  for (const view of ['hours', 'catalogue'])
    t.same(await rowsOf(view, bundle_identifier, columns), [{ versions: 2, isShort: 1 }], view)
})

test('the catalogue has the types of params, and when they were seen', async (t) => {
  const bundle_identifier = 'com.example.shop'
  const rows = Array.from({ length: 3 }, (_, n) =>
    event(`2026-11-21T10:0${n}:00.000Z`, {
      bundle_identifier,
      received_at,
      event: 'open',
      params: { 'a.b': true, deep: { list: [1, 2] } },
      device: { version_code: 41, version_name: '4.1' },
    }),
  )
  await insert(rows)
  await refresh()
  t.same(
    await rowsOf(
      'catalogue',
      bundle_identifier,
      'param, type, records, devices, first_seen, last_seen',
      "AND event = 'open' AND version_code = 41 ORDER BY param",
    ),
    ['', 'a%2Eb', 'deep.list'].map((param, n) => ({
      param,
      type: ['event', 'boolean', 'list'][n],
      records: 3,
      devices: 3,
      first_seen: '2026-11-21 10:00:00.000',
      last_seen: '2026-11-21 10:02:00.000',
    })),
  )
})

test('warnings name what was stored otherwise than it was meant, never a value', async (t) => {
  const bundle_identifier = 'com.example.warned'
  const time = '2026-11-24T11:00:00.000Z'
  const of = (name: string, fields: object) =>
    event(time, { bundle_identifier, event: name, ...fields })
  const device = { version_name: '1' }
  await insert([
    of('ordinary', {
      params: { text: '[see below', number: 1764000000000, id: '4929-12', list: [1] },
    }),
    of('timestamp', { extra: { log: { timestamp: 'yesterday' } } }),
    of('date', { device_extra: { build_time: 'today', other: 1 } }),
    of('array', { params: { mixed: '[1,"a"]' } }),
    of('ahead', { received_at: '2026-11-24T10:55:00.000Z' }),
    of('not believed', { client_timestamp: '2036-01-01T00:00:00.000Z' }),
    of('old', { received_at: '2026-12-20T11:00:00.000Z' }),
    of('imported', { received_at: '2026-12-20T11:00:00.000Z', api_key_id: importKeyId }),
    of('types', { params: { n: 1 }, device }),
    of('types', { params: { n: '1' }, device }),
    of('email', { params: { to: { name: 'write to ann@example.com' } } }),
    of('picture', { params: { file: 'drawable/icon@2x.png', other: 'a@3x.jpeg b@1.5x.webp' } }),
    of('card', { params: { number: '4111 1111 1111 1111', other: '4111 1111 1111 1112' } }),
  ])
  await refresh()
  const columns = '[warning, event, path, toString(records)] AS found'
  const found = await rowsOf('warnings', bundle_identifier, columns, 'ORDER BY warning, event')
  const printed = found.map((row) => row['found'])
  t.same(printed, [
    ['array_as_text', 'array', 'mixed', '1'],
    ['card', 'card', 'number', '1'],
    ['clock_skew', 'ahead', '', '1'],
    ['clock_skew', 'not believed', '', '1'],
    ['device_date_not_read', 'date', 'build_time', '1'],
    ['email', 'email', 'to.name', '1'],
    ['near_id_window', 'old', '', '1'],
    ['several_types', 'types', 'n', '2'],
    ['timestamp_not_read', 'timestamp', 'log.timestamp', '1'],
  ])
  t.notMatch(JSON.stringify(await owner.query('SELECT * FROM intake.days_raw')), /ann@|4111 1111/)
})

// Not a case of the hostile suite: when its events are counted depends on the load of the machine,
// and with the memory of a real reader so short an attack proves nothing.
test('values as names of one application leave the counts of another as they are', async (t) => {
  // Has a fraction of the memory that a reader has, so that a fraction of the attack is enough.
  const small = connect(t, {
    url: withSettings(server.url, { max_memory_usage: String(32 * 1024 * 1024) }),
  })
  const arrived = '2026-11-27T00:00:00.000Z'
  const at = (n: number) => `2026-11-25T10:00:00.${String(n % 1000).padStart(3, '0')}Z`
  const evil = (n: number, fields: object) =>
    event(at(n), { received_at: arrived, bundle_identifier: 'com.example.evil', ...fields })
  const attacks: Record<string, object[]> = {
    // The gateway keeps longer texts of the device out of its columns.
    versions: Array.from({ length: 20_000 }, (_, n) =>
      evil(n, { device: { version_name: `${n}`.padEnd(255, 'v') } }),
    ),
    events: Array.from({ length: 20_000 }, (_, n) => evil(n, { event: `${n}${'😀'.repeat(240)}` })),
    params: Array.from({ length: 2_000 }, (_, n) => {
      const names = Array.from({ length: 100 }, (_value, p) => `p${n * 100 + p}`)
      return evil(n, { params: Object.fromEntries(names.map((name) => [name, 1])) })
    }),
  }
  for (const [attack, rows] of Object.entries(attacks)) {
    await empty()
    for (let from = 0; from < rows.length; from += 2_500) {
      await insert(rows.slice(from, from + 2_500))
    }
    const innocent = { received_at: arrived, bundle_identifier: 'com.example.innocent' }
    const purchase = { ...innocent, event: 'purchase' }
    await insert(Array.from({ length: 5 }, (_, n) => event(at(n), purchase)))
    const settled = await Promise.allSettled(
      countNames.map((name) => refreshCounts({ reader: small, store, name })),
    )
    const refused = settled.filter((one) => one.status === 'rejected')
    t.ok(refused.length > 0, `${attack}: the memory is too small`)
    for (const { reason } of refused) t.match(reason, { name: 'ClickHouseError' })
    const [counted] = await owner.query(
      `SELECT (SELECT sum(events) FROM intake.hours WHERE bundle_identifier = 'com.example.innocent') AS hours,
         (SELECT sum(records) FROM intake.catalogue WHERE bundle_identifier = 'com.example.innocent') AS catalogue`,
    )
    t.same(counted, { hours: 5, catalogue: 5 }, attack)
  }
})

test('names beyond 20,000 in a month are counted together, each time the same', async (t) => {
  const bundle_identifier = 'com.example.inventive'
  await until('2026-12-01T00:00:00.000Z')
  const send = (time: string, names: number, { version = '1', prefix = time } = {}) =>
    insert(
      Array.from({ length: 20 + names }, (_, n) =>
        event(`${time.replace(' ', 'T')}:00.000Z`, {
          bundle_identifier,
          event: n < 20 ? 'open' : `${prefix}${n}`,
          device: { version_name: version },
        }),
      ),
    )
  const days = [10, 11, 12, 13, 14, 15].map((day) => `2026-12-${day}`)
  for (const day of days) for (const hour of ['09', '10']) await send(`${day} ${hour}:30`, 1_900)
  await refresh()
  const read = async <Row>(sql: string) =>
    owner.query<Row>(sql.replaceAll('OURS', `bundle_identifier = '${bundle_identifier}'`))
  const stored = () =>
    read(`SELECT hour, event, events FROM intake.hours WHERE OURS ORDER BY hour, event`)
  const first = await stored()
  t.same(
    await read(`SELECT uniqExactIf(event, event != '') AS names, sum(events) AS total,
        sumIf(events, event = 'open') AS opened FROM intake.hours WHERE OURS`),
    [{ names: 20_000, total: 12 * 1_920, opened: 240 }],
  )
  t.same(
    await read(`SELECT uniqExactIf(event, event != '') AS names, sum(records) AS total,
        sumIf(records, event = '') AS others FROM intake.catalogue WHERE OURS`),
    [{ names: 20_000, total: 12 * 1_920, others: 12 * 1_900 + 1 - 20_000 }],
  )
  t.match(
    await read(`SELECT toString(toDate(first_seen)) AS day FROM intake.warnings WHERE OURS`),
    [{ day: days[0] }],
    'the newest days were counted first, so the oldest was cut',
  )

  await owner.command(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour)
     SELECT DISTINCT bundle_identifier, hour FROM intake.hours_raw WHERE bundle_identifier = '${bundle_identifier}'`,
  )
  await refresh()
  t.same(await stored(), first, 'counted again, each hour has the names that it had')

  await send(`${days[0]} 03:30`, 30, { prefix: `${days[5]} 10:30` })
  await send(`${days[0]} 03:30`, 0, { version: '2' })
  await send(`${days[1]} 03:30`, 40, { prefix: 'next-release-' })
  await send('2027-01-01 03:30', 30)
  await refresh()
  t.same(
    await read(`SELECT hour, uniqExact(event) AS names, sum(hours.events) AS events, sumIf(hours.events, event = '') AS others
        FROM intake.hours AS hours WHERE OURS AND hour IN ('${days[0]} 03:00:00', '${days[1]} 03:00:00', '2027-01-01 03:00:00') GROUP BY hour ORDER BY hour`),
    [
      { hour: `${days[0]} 03:00:00.000`, names: 31, events: 70, others: 0 },
      { hour: `${days[1]} 03:00:00.000`, names: 41, events: 60, others: 0 },
      { hour: '2027-01-01 03:00:00.000', names: 31, events: 50, others: 0 },
    ],
    'late events have names that are known, a new version is seen, and a month begins anew',
  )
  t.same(
    await read(
      `SELECT version_name FROM intake.device_hours WHERE OURS AND hour = '${days[0]} 03:00:00' ORDER BY version_name`,
    ),
    [{ version_name: '1' }, { version_name: '2' }],
  )
})

test('applications whose identifiers are too large for one statement are found', async (t) => {
  const lately = '2027-01-20 00:00:00.000'
  // Cannot hold all identifiers at once.
  const small = connect(t, {
    url: withSettings(server.url, { max_memory_usage: String(100 * 1024 * 1024) }),
  })
  const invented = 80_000
  await owner.command(
    `INSERT INTO intake.logs_raw (bundle_identifier, time, id, device_uuid, received_at, event, ver)
     SELECT concat(hex(sipHash128(number)), repeat('x', 968)), UUIDv7ToDateTime(uid, 'UTC'),
       generateUUIDv7() AS uid, generateUUIDv4(), '${lately}', 'e', 1 FROM numbers(${invented})`,
  )
  const bundle_identifier = 'com.example.innocent'
  const rows = ['2027-01-19T01:00:00.000Z', '2027-01-19T02:00:00.000Z'].map((time) =>
    event(time, { bundle_identifier, received_at: `${lately.replace(' ', 'T')}Z` }),
  )
  await insert(rows)
  const times = {
    lastUntil: lately,
    lastNow: '2020-03-01 00:00:00.000',
    now: '2020-03-02 00:00:00.000',
  }
  const { found, statements, counted } = await findStale(times, { from: small })
  t.ok(statements > 1, 'one statement was not enough')
  t.ok(counted > 60_000 && counted * 1_000 <= 64 * 1024 * 1024 + 2_000, `${counted}: 64 MiB`)
  const others = found.filter((one) => one.bundle_identifier === bundle_identifier).length
  t.equal(others, 2, 'the application with the most events')
})

test('what is beyond 200,000 hours is marked, and counted later', async (t) => {
  const all = Array.from({ length: 200_003 }, (_, n) => stale(String(n)))
  const { counted, inserted } = await refreshFake(all)
  t.match(counted, { value: 200_000 })
  const [, marks = []] = inserted.find(([table]) => table === 'recounts') ?? []
  t.same(
    marks,
    all.slice(200_000).map(({ bundle_identifier }) => ({
      bundle_identifier,
      hour: '2026-11-24T09:00:01.000Z',
      asked_at: '2026-11-25T00:10:00.000Z',
    })),
  )
  // The next call after the pause finds them in ClickHouse.
  await insertRows(store, 'recounts', marks)
  const times = {
    lastUntil: '2028-01-01 00:00:00.000',
    lastNow: now,
    now: '2026-11-25 00:10:00.000',
  }
  const { found } = await findStale(times)
  const bundles = found.map(({ bundle_identifier }) => bundle_identifier).toSorted()
  t.same(
    bundles,
    all.slice(200_000).map(({ bundle_identifier }) => bundle_identifier),
  )
})

test('what was postponed is left out until it is due, and the rest is not', async (t) => {
  const at = (hour: string) => `2027-06-21T${hour}:10:00.000Z`
  const of = (bundle_identifier: string, hour: string) =>
    event(at(hour), { bundle_identifier, received_at: '2027-06-22T00:00:00.000Z' })
  await insert([
    of('com.example.postponed', '00'),
    of('com.example.postponed', '01'),
    of('com.example.neighbour', '00'),
  ])
  const due = '2027-06-22 03:00:00.000'
  const marks = ['00:00:01', '01:00:01'].map((time) => ({
    bundle_identifier: 'com.example.postponed',
    hour: `2027-06-21 ${time}`,
    asked_at: due,
  }))
  // The later hour was postponed before, and erased since.
  marks.push({ ...marks[1]!, hour: '2027-06-21 01:00:00', asked_at: '2027-06-22 02:00:00.000' })
  await insertRows(store, 'recounts', marks)
  async function find(name: (typeof countNames)[number], lastNow: string, time: string) {
    const times = { lastUntil: '2027-06-21 23:00:00.000', lastNow, now: time }
    const { found } = await findStale(times, { name })
    return found.map((one) => `${one.bundle_identifier.split('.')[2]} ${one.period}`).toSorted()
  }
  const before = ['2027-06-22 01:30:00.000', '2027-06-22 02:59:00.000'] as const
  t.same(await find('hours', ...before), [
    'neighbour 2027-06-21 00:00:00',
    'postponed 2027-06-21 01:00:00',
  ])
  const all = ['neighbour', 'postponed'].map((name) => `${name} 2027-06-21`)
  t.same(await find('catalogue', ...before), all, 'the erasure is counted at once')
  const when = ['2027-06-22 02:55:00.000', due] as const
  t.same(await find('hours', ...when), [
    'neighbour 2027-06-21 00:00:00',
    'postponed 2027-06-21 00:00:00',
    'postponed 2027-06-21 01:00:00',
  ])
})

test('what was counted while clocks were ahead is counted again', async (t) => {
  t.teardown(() => owner.command('TRUNCATE TABLE intake.counted_raw'))
  const bundle = 'com.example.ahead'
  const nowMs = Date.now()
  const ahead = nowMs + 3_600_000
  const time = new Date(nowMs - 60_000).toISOString()
  const hour = `${time.slice(0, 13)}:00:00`
  await insertRows(
    store,
    'counted',
    countNames.map((name) => {
      const at = new Date(ahead).toISOString()
      return { name, counted_until: at, counted_at: at }
    }),
  )
  await insertRows(store, 'hours', [{ bundle_identifier: bundle, hour, ver: ahead }])
  const counted = () => rowsOf('hours', bundle, 'sum(events) AS number')
  for (const number of [1, 2]) {
    await insert([event(time, { bundle_identifier: bundle })])
    await until(new Date(nowMs - 120_000).toISOString())
    await refresh()
    t.same(await counted(), [{ number }])
  }
  await owner.command(`TRUNCATE TABLE intake.logs_raw`)
  await insertRows(store, 'recounts', [{ bundle_identifier: bundle, hour }])
  await refresh()
  t.same(await counted(), [{ number: 0 }], 'what is marked is found')
})
