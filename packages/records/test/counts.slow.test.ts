import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { createClickHouse, type RecordTable } from '@intake/clickhouse'
import { limits } from '@intake/contract'
import { logRow, member, startServer, uuidV7, withSettings } from '../../schema/test/fixture.ts'
import {
  addDeadLetter,
  countNames,
  dropMonths,
  readDeadLetters,
  refreshCounts,
  replayDeadLetters,
  writeTombstones,
} from '../src/index.ts'
import { ClickHouseError } from '@intake/clickhouse'

const { server, connect } = await startServer(t)
const owner = connect(t)
const reader = createClickHouse({ url: server.readerUrl })
const store = createClickHouse({ url: server.workerUrl })
t.teardown(() => Promise.all([reader.close(), store.close()]))

const insert = (table: RecordTable, rows: object[]) =>
  store.insertRows({ table, members: [member(rows)], rows: rows.length })
/** Counts with the rights that a worker has. */
async function refresh(): Promise<void> {
  for (const name of countNames) await refreshCounts({ reader, store, name })
}
const until = (visible_until: string) =>
  store.insertRows({
    table: 'watermark',
    members: [member([{ kind: 'logs', visible_until }])],
    rows: 1,
  })

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

t.test('hours are equal to the records, after repeats, late events and an erasure', async (t) => {
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
  await insert('logs', rows)
  await until('2026-11-23T00:00:00.000Z')
  await refresh()
  t.same(await differences(), [])
  t.equal(await countHours(), 50)

  // Inserts repeats. One of them differs from the stored version: a gateway accepted it earlier
  // than that version, but it waited in the queue.
  const [first = event('')] = rows
  await insert('logs', rows.slice(0, 20))
  await insert('logs', [{ ...first, event: 'earlier', received_at: '2026-11-19T23:59:00.000Z' }])
  await until('2026-11-23T01:00:00.000Z')
  await refresh()
  t.equal(await countHours(), 50)

  const late = { received_at: '2026-11-23T02:00:00.000Z' }
  await insert('logs', [
    event('2026-11-02T05:00:00.000Z', { ...late, bundle_identifier: 'com.example.late' }),
    event('2026-11-20T00:30:00.000Z', { ...late, event: 'late' }),
  ])
  await until('2026-11-23T03:00:00.000Z')
  await refresh()
  t.same(
    (await differences()).filter((row) => row['event'] !== 'earlier' && row['event'] !== 'event 0'),
    [],
  )
  t.equal(await countHours(), 52)

  await writeTombstones(owner, { kind: 'user', id: 'erased' })
  await refresh()
  t.equal(await countHours(), 47)
  const [states] = await owner.query<{ devices: number; exact: number }>(
    `SELECT (SELECT intake_devices(devices_state) FROM intake.device_hours) AS devices,
       (SELECT uniqExact(device_uuid) FROM intake.logs) AS exact`,
  )
  t.equal(states?.devices, states?.exact)
})

t.test('an hour whose only record was erased is counted as empty', async (t) => {
  const bundle_identifier = 'com.example.gone'
  await insert('logs', [
    event('2026-11-25T05:00:00.000Z', { bundle_identifier, unique_user_id: 'gone' }),
  ])
  const rowsOf = (view: string) =>
    owner.query(
      `SELECT event FROM intake.${view} WHERE bundle_identifier = {bundle_identifier:String}`,
      {
        bundle_identifier,
      },
    )
  await refresh()
  for (const view of ['hours', 'catalogue']) t.equal((await rowsOf(view)).length, 1, view)
  await writeTombstones(owner, { kind: 'user', id: 'gone' })
  await refresh()
  for (const view of ['hours', 'catalogue', 'device_hours']) {
    t.same(
      await owner.query(
        `SELECT 1 FROM intake.${view} WHERE bundle_identifier = {bundle_identifier:String}`,
        { bundle_identifier },
      ),
      [],
      view,
    )
  }
})

t.test('a replayed dead letter is counted, although it arrived long ago', async (t) => {
  const row = event('2026-11-21T09:00:00.000Z', { bundle_identifier: 'com.example.replayed' })
  const refusal = new ClickHouseError('bad', { kind: 'rejected', code: 117 })
  await addDeadLetter(owner, { table: 'logs', row: JSON.stringify(row), refusal })
  await refresh()
  await replayDeadLetters(owner, await readDeadLetters(owner, row.id))
  await refresh()
  t.same(
    await owner.query(
      "SELECT hour, events FROM intake.hours WHERE bundle_identifier = 'com.example.replayed'",
    ),
    [{ hour: '2026-11-21 09:00:00.000', events: 1 }],
  )
})

t.test('months that retention drops are no longer counted', async (t) => {
  const bundle_identifier = 'com.example.old'
  await insert('logs', [event('2026-09-21T09:00:00.000Z', { bundle_identifier, received_at })])
  await refresh()
  t.equal(
    (
      await owner.query(
        `SELECT 1 FROM intake.hours WHERE bundle_identifier = '${bundle_identifier}'`,
      )
    ).length,
    1,
  )
  await dropMonths(owner, 'logs', ['202609'])
  await dropMonths(owner, 'counts', ['202609'])
  for (const view of ['hours', 'catalogue']) {
    const rows = await owner.query(
      `SELECT 1 FROM intake.${view} WHERE bundle_identifier = {bundle_identifier:String}`,
      { bundle_identifier },
    )
    t.same(rows, [], view)
  }
})

t.test('names beyond 2,000 in an hour are counted together', async (t) => {
  const bundle_identifier = 'com.example.names'
  const rows = Array.from({ length: 2_100 }, (_, n) =>
    event('2026-11-24T09:00:00.000Z', { bundle_identifier, event: `order ${n}` }),
  )
  await insert('logs', rows)
  await refresh()
  t.same(
    await owner.query(
      `SELECT count() AS names, sum(hours.events) AS events, maxIf(hours.events, event = '') AS others FROM intake.hours AS hours
       WHERE bundle_identifier = {bundle_identifier:String}`,
      { bundle_identifier },
    ),
    [{ names: 2_001, events: 2_100, others: 100 }],
  )
})

t.test('versions beyond 500 in an hour are counted together, with their devices', async (t) => {
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
  await insert('logs', rows)
  await refresh()
  const params = { bundle_identifier }
  t.same(
    await owner.query(
      `SELECT uniqExact(version_name) AS versions, uniqExact(version_code) AS codes, sum(hours.events) AS events,
         sumIf(hours.events, version_name = '1.900') AS most,
         sumIf(hours.events, version_name = '' AND version_code IS NULL) AS others FROM intake.hours AS hours
       WHERE bundle_identifier = {bundle_identifier:String}`,
      params,
    ),
    [{ versions: 501, codes: 500, events: 620, most: 20, others: 101 }],
  )
  t.same(
    await owner.query(
      `SELECT uniqExact(version_name) AS versions, intake_devices(devices_state) BETWEEN 600 AND 640 AS near
       FROM intake.device_hours WHERE bundle_identifier = {bundle_identifier:String}`,
      params,
    ),
    [{ versions: 501, near: 1 }],
  )
})

t.test('any number of applications is counted, however long their identifiers are', async (t) => {
  const time = '2026-11-24T13:00:00.000Z'
  const of = (n: number) => `${String(n).padStart(6, '0')}${'😀'.repeat(249)}`
  await insert(
    'logs',
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

t.test('what is too large for one statement is counted in halves', async (t) => {
  const sizes: number[] = []
  const refusal = new ClickHouseError('too large', { kind: 'split', code: 241, isTooLarge: true })
  const applications = Array.from({ length: 7 }, (_, n) => `com.example.half${n}`)
  const fake = {
    query: async <Row>(sql: string) =>
      (sql.includes('AS until')
        ? [{ until: '2026-11-25 00:00:00.000', now: '2026-11-25 00:00:00.000' }]
        : applications.map((bundle_identifier) => ({
            bundle_identifier,
            period: '2026-11-24 09:00:00',
          }))) as Row[],
    lines: async (_: string, params: Record<string, unknown> = {}) => {
      const { length } = params['applications'] as string[]
      if (length > 2) throw refusal
      sizes.push(length)
      return []
    },
  }
  const rows: number[] = []
  const into = { insertRows: async (one: { rows: number }) => void rows.push(one.rows) }
  t.equal(await refreshCounts({ reader: fake, store: into, name: 'hours' }), 7)
  t.same(sizes, [2, 2, 2, 1])
  t.same(rows, [2, 2, 2, 1, 1], 'four inserts of empty hours, and the note that all was counted')
})

t.test('an application with many new events is counted after all others, alone', async (t) => {
  const counted: string[][] = []
  const found = [
    { bundle_identifier: 'com.example.large', of_application: 1_000_000 },
    { bundle_identifier: 'com.example.one', of_application: 2 },
    { bundle_identifier: 'com.example.two', of_application: 1 },
  ].map((one) => ({ ...one, period: '2026-11-24 09:00:00', is_marked: 0 }))
  const time = '2026-11-25 00:00:00.000'
  const fake = {
    query: async <Row>(sql: string) =>
      (sql.includes('AS until') ? [{ until: time, now: time }] : found) as Row[],
    lines: async (_: string, params: Record<string, unknown> = {}) => {
      counted.push(params['applications'] as string[])
      return []
    },
  }
  await refreshCounts({ reader: fake, store: { insertRows: async () => {} }, name: 'hours' })
  t.same(counted, [['com.example.one', 'com.example.two'], ['com.example.large']])
})

t.test('drift without version codes compares names as versions are ordered', async (t) => {
  const bundle_identifier = 'com.example.web'
  const names = ['1.9.0', '1.10.0-beta.2', '1.10.0-beta.10', '1.10.0', '2.0']
  await insert(
    'logs',
    names.map((version_name, n) =>
      event(`2026-11-21T11:0${n}:00.000Z`, {
        bundle_identifier,
        received_at,
        event: 'open',
        params: { [`new_in_${n}`]: 1 },
        device: { version_name },
      }),
    ),
  )
  await refresh()
  const changes = await reader.query(
    `SELECT version_from, version_to, versions_ago, param FROM intake.drift
     WHERE bundle_identifier = {bundle_identifier:String} AND change = 'new'
     ORDER BY versions_ago DESC`,
    { bundle_identifier },
  )
  t.same(
    changes,
    [1, 2, 3, 4].map((n) => ({
      version_from: names[n - 1],
      version_to: names[n],
      versions_ago: 4 - n,
      param: `new_in_${n}`,
    })),
  )
})

t.test('a day with more names than are counted is a warning, and shows no drift', async (t) => {
  const bundle_identifier = 'com.example.cut'
  const many = (version_code: number, count: number) =>
    `SELECT '${bundle_identifier}' AS bundle_identifier, toDate('2026-11-2${version_code}') AS day,
       arrayMap(n -> (concat('e', toString(n)), '', 'event', ${version_code}, '${version_code}', now64(3, 'UTC'), now64(3, 'UTC'), 1, 1), range(${count})) AS entries,
       [] AS warnings, 1 AS ver`
  const found = async () => ({
    drift: await reader.query(
      `SELECT change FROM intake.drift WHERE bundle_identifier = '${bundle_identifier}'`,
    ),
    warnings: await reader.query(
      `SELECT warning, first_seen FROM intake.warnings WHERE bundle_identifier = '${bundle_identifier}'`,
    ),
  })
  const columns = '(bundle_identifier, day, entries, warnings, ver)'
  await owner.command(`INSERT INTO intake.days_raw ${columns} ${many(1, limits.catalogueEntries)}`)
  await owner.command(`INSERT INTO intake.days_raw ${columns} ${many(2, 10)}`)
  const first_seen = '2026-11-21 00:00:00.000'
  t.same(await found(), { drift: [], warnings: [{ warning: 'catalogue_cut', first_seen }] })
  await owner.command(`INSERT INTO intake.days_raw ${columns} ${many(3, 11)}`)
  t.same((await found()).drift, [{ change: 'new' }], 'whole days are compared')
})

t.test('an application that cannot be counted delays no other', async (t) => {
  const refusal = new ClickHouseError('too large', { kind: 'split', code: 241, isTooLarge: true })
  const applications = ['com.example.evil', 'com.example.good', 'com.example.other']
  const counted: string[] = []
  const fake = {
    query: async <Row>(sql: string) =>
      (sql.includes('AS until')
        ? [{ until: '2026-11-25 00:00:00.000', now: '2026-11-25 00:00:00.000' }]
        : applications.map((bundle_identifier) => ({
            bundle_identifier,
            period: '2026-11-24 09:00:00',
          }))) as Row[],
    lines: async (_: string, params: Record<string, unknown> = {}) => {
      const asked = params['applications'] as string[]
      if (asked.includes('com.example.evil')) throw refusal
      counted.push(...asked)
      return []
    },
  }
  const inserted: Record<string, object[]> = {}
  const into = {
    insertRows: async (one: { table: string; members: readonly Buffer[] }) => {
      const lines = gunzipSync(Buffer.concat(one.members)).toString().trim().split('\n')
      inserted[one.table] = lines.map((line) => JSON.parse(line) as object)
    },
  }
  await t.rejects(refreshCounts({ reader: fake, store: into, name: 'hours' }), refusal)
  t.same(counted, ['com.example.good', 'com.example.other'])
  t.match(inserted['counted'], [{ name: 'hours' }], 'progress goes on')
  // 2026-11-24 09:00 is fifteen hours old, so the pause is seven and a half hours.
  t.same(inserted['recounts'], [
    {
      bundle_identifier: 'com.example.evil',
      hour: '2026-11-24T09:00:01.000Z',
      asked_at: '2026-11-25T07:30:00.000Z',
    },
  ])
})

t.test('what is counted only within bounds is tried again later, and said', async (t) => {
  const refusal = new ClickHouseError('too large', { kind: 'split', code: 241, isTooLarge: true })
  const now = '2026-11-25 00:00:00.000'
  const statements: string[] = []
  const tables: string[] = []
  const fake = {
    query: async <Row>(sql: string) =>
      (sql.includes('AS until')
        ? [{ until: now, now }]
        : [{ bundle_identifier: 'com.example.evil', period: '2026-11-24 09:00:00' }]) as Row[],
    lines: async (sql: string) => {
      statements.push(sql)
      if (!sql.includes('max_rows_to_group_by')) throw refusal
      return []
    },
  }
  const into = { insertRows: async ({ table }: { table: string }) => void tables.push(table) }
  await t.rejects(refreshCounts({ reader: fake, store: into, name: 'hours' }), refusal)
  t.equal(statements.length, 2)
  t.same(tables, ['hours', 'recounts', 'counted'])
})

t.test('who invents applications delays neither marked hours nor other senders', async (t) => {
  const lately = '2026-12-20T00:00:00.000Z'
  const of = (bundle_identifier: string, time: string) =>
    event(time, { bundle_identifier, received_at: lately })
  await insert('logs', [
    ...Array.from({ length: 20 }, (_, n) => of(`com.invented.n${n}`, '2026-12-19T23:00:00.000Z')),
    of('com.example.late', '2026-12-01T01:00:00.000Z'),
    of('com.example.late', '2026-12-01T02:00:00.000Z'),
  ])
  await owner.command(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour, asked_at)
     VALUES ('com.example.erased', '2026-12-03 00:00:00', '2020-01-01 12:00:00')`,
  )
  // Finds four instead of 900,000, and only what this test has inserted.
  const range = {
    lastUntil: '2026-12-19 00:00:00.000',
    lastNow: '2020-01-01 00:00:00.000',
    now: '2020-01-02 00:00:00.000',
  }
  let found: { bundle_identifier: string }[] = []
  const fake = {
    async query<Row>(sql: string, params: Record<string, unknown> = {}) {
      if (!sql.includes('intake.recounts')) return reader.query<Row>(sql, params)
      const rows = await reader.query<Row>(sql.replace(/LIMIT \d+/, 'LIMIT 4'), range)
      found = [...rows] as typeof found
      return rows
    },
    lines: async () => [],
  }
  await refreshCounts({ reader: fake, store: { insertRows: async () => {} }, name: 'hours' })
  t.match(
    found.map(({ bundle_identifier }) => bundle_identifier),
    ['com.example.erased', 'com.example.late', 'com.example.late', /^com\.invented/],
  )
})

t.test('versions of a megabyte as names are counted, each by itself', async (t) => {
  const bundle_identifier = 'com.example.long'
  const of = (end: string) =>
    event('2026-11-24T14:00:00.000Z', {
      bundle_identifier,
      received_at,
      device: { version_name: `${'v'.repeat(1_000_000)}${end}` },
    })
  await insert('logs', [of('a'), of('b')])
  await refresh()
  for (const view of ['hours', 'catalogue'])
    t.same(
      await owner.query(
        `SELECT uniqExact(version_name) AS versions, max(length(version_name)) < 1000 AS isShort FROM intake.${view}
         WHERE bundle_identifier = 'com.example.long'`,
      ),
      [{ versions: 2, isShort: 1 }],
      view,
    )
})

t.test('drift shows the five planted changes between two releases, and nothing else', async (t) => {
  const bundle_identifier = 'com.example.shop'
  const of = (version: number, name: string, params: object) =>
    Array.from({ length: 3 }, (_, n) =>
      event(`2026-11-2${version}T10:0${n}:00.000Z`, {
        bundle_identifier,
        received_at,
        event: name,
        params,
        device: { version_code: 40 + version, version_name: `4.${version}` },
      }),
    )
  const same = { 'a.b': true, deep: { list: [1, 2] } }
  await insert('logs', [
    ...of(1, 'open', same),
    ...of(1, 'pay', { amount: 3, currency: 'EUR', coupon: 'x' }),
    ...of(1, 'share', { to: 'x' }),
    ...of(2, 'open', same),
    // `amount` has become a text, `coupon` is gone, `basket` is new.
    ...of(2, 'pay', { amount: '3.00', currency: 'EUR', basket: 2 }),
    // `share` is gone, and `refund` is new; their params are not reported as changes.
    ...of(2, 'refund', { amount: 1.5 }),
    // Without a version nothing can be compared.
    event('2026-11-22T10:00:00.000Z', { bundle_identifier, received_at, event: 'no version' }),
  ])
  await refresh()
  const expected = (
    name: string,
    param: string,
    change: string,
    before: string,
    after: string,
  ) => ({
    bundle_identifier,
    version_from: '41',
    version_to: '42',
    versions_ago: 0,
    event: name,
    param,
    change,
    before,
    after,
  })
  t.same(
    await reader.query(
      'SELECT * FROM intake.drift WHERE bundle_identifier = {bundle_identifier:String} ORDER BY event, param',
      { bundle_identifier },
    ),
    [
      expected('pay', 'amount', 'type', 'number', 'text'),
      expected('pay', 'basket', 'new', '', 'number'),
      expected('pay', 'coupon', 'gone', 'text', ''),
      expected('refund', '', 'new', '', 'event'),
      expected('share', '', 'gone', 'event', ''),
    ],
  )
  t.same(
    await reader.query(
      `SELECT param, type, records, devices, first_seen, last_seen FROM intake.catalogue
       WHERE bundle_identifier = {bundle_identifier:String} AND event = 'open' AND version_code = 41 ORDER BY param`,
      { bundle_identifier },
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

t.test('warnings name what was stored otherwise than it was meant, never a value', async (t) => {
  const bundle_identifier = 'com.example.warned'
  const time = '2026-11-24T11:00:00.000Z'
  const of = (name: string, fields: object) =>
    event(time, { bundle_identifier, event: name, ...fields })
  const device = { version_name: '1' }
  await insert('logs', [
    of('ordinary', {
      params: { text: '[see below', number: 1764000000000, id: '4929-12', list: [1] },
    }),
    of('timestamp', { extra: { log: { timestamp: 'yesterday' } } }),
    of('date', { device_extra: { build_time: 'today', other: 1 } }),
    of('array', { params: { mixed: '[1,"a"]' } }),
    of('ahead', { received_at: '2026-11-24T10:55:00.000Z' }),
    of('not believed', { client_timestamp: '2036-01-01T00:00:00.000Z' }),
    of('old', { received_at: '2026-12-20T11:00:00.000Z' }),
    of('types', { params: { n: 1 }, device }),
    of('types', { params: { n: '1' }, device }),
    of('email', { params: { to: { name: 'write to ann@example.com' } } }),
    of('picture', { params: { file: 'drawable/icon@2x.png', other: 'a@3x.jpeg b@1.5x.webp' } }),
    of('card', { params: { number: '4111 1111 1111 1111', other: '4111 1111 1111 1112' } }),
  ])
  await refresh()
  const rows = await reader.query<{ warning: string }>(
    `SELECT warning, event, path, records FROM intake.warnings
     WHERE bundle_identifier = {bundle_identifier:String} ORDER BY warning, event`,
    { bundle_identifier },
  )
  t.same(rows, [
    { warning: 'array_as_text', event: 'array', path: 'mixed', records: 1 },
    { warning: 'card', event: 'card', path: 'number', records: 1 },
    { warning: 'clock_skew', event: 'ahead', path: '', records: 1 },
    { warning: 'clock_skew', event: 'not believed', path: '', records: 1 },
    { warning: 'device_date_not_read', event: 'date', path: 'build_time', records: 1 },
    { warning: 'email', event: 'email', path: 'to.name', records: 1 },
    { warning: 'near_id_window', event: 'old', path: '', records: 1 },
    { warning: 'several_types', event: 'types', path: 'n', records: 2 },
    { warning: 'timestamp_not_read', event: 'timestamp', path: 'log.timestamp', records: 1 },
  ])
  t.notMatch(JSON.stringify(await owner.query('SELECT * FROM intake.days_raw')), /ann@|4111 1111/)
})

// Not a case of the hostile suite: when its events are counted depends on the load of the machine,
// and with the memory of a real reader so short an attack proves nothing.
t.test('values as names of one application leave the counts of another as they are', async (t) => {
  // Has a fraction of the memory that a reader has, so that a fraction of the attack is enough.
  const small = createClickHouse({
    url: withSettings(server.url, { max_memory_usage: String(128 * 1024 * 1024) }),
  })
  t.teardown(() => small.close())
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
    params: Array.from({ length: 2_000 }, (_, n) =>
      evil(n, {
        params: Object.fromEntries(
          Array.from({ length: 100 }, (_value, p) => [`p${n * 100 + p}`, 1]),
        ),
      }),
    ),
  }
  let purchases = 0
  for (const [attack, rows] of Object.entries(attacks)) {
    for (let from = 0; from < rows.length; from += 2_500) {
      await insert('logs', rows.slice(from, from + 2_500))
    }
    purchases += 5
    await insert(
      'logs',
      Array.from({ length: 5 }, (_, n) =>
        event(at(n), {
          received_at: arrived,
          bundle_identifier: 'com.example.innocent',
          event: 'purchase',
        }),
      ),
    )
    for (const name of countNames) {
      await refreshCounts({ reader: small, store, name }).catch((error: unknown) => {
        t.match(
          error,
          { name: 'ClickHouseError' },
          `${attack}, ${name}: the other cannot be counted`,
        )
      })
    }
    const [counted] = await owner.query(
      `SELECT (SELECT sum(events) FROM intake.hours WHERE bundle_identifier = 'com.example.innocent') AS hours,
         (SELECT sum(records) FROM intake.catalogue WHERE bundle_identifier = 'com.example.innocent') AS catalogue`,
    )
    t.same(counted, { hours: purchases, catalogue: purchases }, attack)
  }
})

t.test('names beyond 20,000 in a month are counted together, each time the same', async (t) => {
  const bundle_identifier = 'com.example.inventive'
  await until('2026-12-01T00:00:00.000Z')
  const send = (time: string, names: number, { version = '1', prefix = time } = {}) =>
    insert(
      'logs',
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

t.test('applications whose identifiers are too large for one statement are found', async (t) => {
  const lately = '2027-01-20 00:00:00.000'
  // Cannot hold all identifiers at once.
  const small = createClickHouse({
    url: withSettings(server.url, { max_memory_usage: String(100 * 1024 * 1024) }),
  })
  t.teardown(() => small.close())
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
  await insert('logs', rows)
  const range = {
    lastUntil: lately,
    lastNow: '2020-03-01 00:00:00.000',
    now: '2020-03-02 00:00:00.000',
  }
  const found: { bundle_identifier: string }[] = []
  let statements = 0
  const fake = {
    async query<Row>(sql: string, params: Record<string, unknown> = {}) {
      if (!sql.includes('intake.recounts')) return reader.query<Row>(sql, params)
      statements++
      const some = await small.query<Row>(sql, range)
      found.push(...(some as typeof found))
      return some
    },
    lines: async () => [],
  }
  const counted = await refreshCounts({
    reader: fake,
    store: { insertRows: async () => {} },
    name: 'hours',
  })
  t.ok(statements > 1, 'one statement was not enough')
  t.ok(counted > 60_000 && counted * 1_000 <= 64 * 1024 * 1024 + 2_000, `${counted}: 64 MiB`)
  t.equal(
    found.filter((one) => one.bundle_identifier === bundle_identifier).length,
    2,
    'the application with the most events',
  )
})

t.test('what is beyond 200,000 hours is marked, and counted later', async (t) => {
  const now = '2026-11-25 00:00:00.000'
  const stale = Array.from({ length: 200_003 }, (_, n) => ({
    bundle_identifier: `com.example.${n}`,
    period: '2026-11-24 09:00:00',
    is_marked: 0,
    of_application: 1,
  }))
  const fake = {
    query: async <Row>(sql: string) =>
      (sql.includes('AS until') ? [{ until: now, now }] : [...stale]) as Row[],
    lines: async () => [],
  }
  let marks: object[] = []
  const into = {
    insertRows: async ({ table, members }: Parameters<typeof store.insertRows>[0]) => {
      if (table !== 'recounts') return
      const lines = gunzipSync(Buffer.concat(members)).toString().trim().split('\n')
      marks = lines.map((line) => JSON.parse(line) as object)
      await store.insertRows({ table, members: [member(marks)], rows: marks.length })
    },
  }
  t.equal(await refreshCounts({ reader: fake, store: into, name: 'hours' }), 200_000)
  t.same(
    marks,
    [0, 1, 2].map((n) => ({
      bundle_identifier: `com.example.${200_000 + n}`,
      hour: '2026-11-24T09:00:01.000Z',
      asked_at: '2026-11-25T00:10:00.000Z',
    })),
  )
  // The next call after the pause finds them in ClickHouse.
  const range = {
    lastUntil: '2028-01-01 00:00:00.000',
    lastNow: now,
    now: '2026-11-25 00:10:00.000',
  }
  let found: object[] = []
  const later = {
    ...fake,
    async query<Row>(sql: string, params: Record<string, unknown> = {}) {
      if (!sql.includes('intake.recounts')) return fake.query<Row>(sql)
      const rows = await reader.query<Row>(sql, { ...params, ...range })
      found = [...rows] as object[]
      return rows
    },
  }
  await refreshCounts({ reader: later, store: { insertRows: async () => {} }, name: 'hours' })
  t.match(
    found.map((one) => (one as { bundle_identifier: string }).bundle_identifier).toSorted(),
    [0, 1, 2].map((n) => `com.example.${200_000 + n}`),
  )
})

t.test('what was postponed is left out until it is due, and the rest is not', async (t) => {
  const at = (hour: string) => `2027-06-21T${hour}:10:00.000Z`
  const of = (bundle_identifier: string, hour: string) =>
    event(at(hour), { bundle_identifier, received_at: '2027-06-22T00:00:00.000Z' })
  await insert('logs', [
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
  await store.insertRows({ table: 'recounts', members: [member(marks)], rows: marks.length })
  async function find(name: (typeof countNames)[number], lastNow: string, now: string) {
    let found: object[] = []
    const watched = {
      async query<Row>(sql: string, params: Record<string, unknown> = {}) {
        if (!sql.includes('intake.recounts')) return reader.query<Row>(sql, params)
        const lastUntil = '2027-06-21 23:00:00.000'
        const rows = await reader.query<Row>(sql, { lastUntil, lastNow, now })
        found = rows.map((row) => ({ ...row })) as object[]
        return rows
      },
      lines: async () => [],
    }
    await refreshCounts({ reader: watched, store: { insertRows: async () => {} }, name })
    return (found as { bundle_identifier: string; period: string }[])
      .map((one) => `${one.bundle_identifier.split('.')[2]} ${one.period}`)
      .toSorted()
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
