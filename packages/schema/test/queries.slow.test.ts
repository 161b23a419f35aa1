import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { documentedQueries } from '@intake/test-kit/documented-queries'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { addDeadLetter } from '@intake/records'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import {
  feedbackRow,
  insertRows,
  logRow,
  member,
  startServer,
  timeZones,
  uuidV7,
  withSettings,
} from './fixture.ts'

const deviceId = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
const one = { device_uuid: deviceId(1), unique_user_id: 'u1', api_key_id: 'key-1' }
const two = { device_uuid: deviceId(2), unique_user_id: 'u2', api_key_id: 'key-1' }
const three = { device_uuid: deviceId(3), unique_user_id: 'u3', api_key_id: 'key-2' }
const old = { version_name: '1.0', battery_level: 80 }
const fresh = {
  version_name: '2.0',
  battery_level: 80,
  first_install_time: '2026-11-10T08:30:00.000Z',
}

/** @param when `MM-DD hh:mm` */
const at = (when: string) => {
  const time = `2026-${when.replace(' ', 'T')}:00.000Z`
  return { id: uuidV7(time), time, received_at: time }
}
const screen = (name: string) => ({ event: 'screen_view', params: { screen: name } })
const request = (path: string, ms: unknown) => ({ event: 'request', params: { path, ms } })

const trace = 'TypeError: x is not a function\n    at pay (https://shop.example/app.js:7:1)'

const open = { event: 'app_open' }
const late = {
  sample_rate: 0.25,
  received_at: '2026-11-10T11:40:00.000Z',
  client_timestamp: '2026-11-10T12:40:00.000Z',
}
const numbered = (sequence: number, extra: object = {}, log: object = {}) => ({
  extra: { ...extra, log: { ...log, sequence } },
})
const paid = (amount: unknown) => ({ event: 'purchase', params: { amount } })
const sentBy = (who: object, device: object) => (when: string, fields: object) => ({
  ...at(when),
  ...who,
  device,
  ...fields,
})
const [ofOne, ofTwo, ofThree] = [sentBy(one, old), sentBy(two, old), sentBy(three, fresh)]
const logs = [
  ofOne('11-02 10:00', open),
  ofOne('11-02 10:01', screen('home')),
  ofOne('11-02 10:02', screen('cart')),
  ofOne('11-02 10:03', paid(10)),
  ofOne('11-03 10:00', { ...open, ...numbered(4, { foo: 1 }) }),
  ofOne('11-09 10:00', { ...open, ...numbered(7, { foo: 2 }, { a: 1 }) }),
  ofOne('11-09 10:05', {
    device: { ...old, battery_level: 5 },
    event: 'crash',
    params: { stack: trace },
  }),
  ofTwo('11-02 11:00', open),
  ofTwo('11-02 11:05', screen('home')),
  ofTwo('11-02 12:00', paid('20.5')),
  ofTwo('11-02 12:01', paid('free')),
  ofThree('11-10 09:00', { ...open, ...numbered(1) }),
  ofThree('11-10 09:01', { ...request('/a', 100), ...numbered(2) }),
  ofThree('11-10 09:02', request('/a', 200.5)),
  ofThree('11-10 09:03', request('/b', '50')),
  ofThree('11-10 09:40', { ...screen('home'), ...late }),
  // Events that must not match: one is of another application, one of an import, which nobody
  // acknowledged, and two are at other times.
  ofOne('11-03 10:00', { event: 'crash', bundle_identifier: 'com.example.b' }),
  ofOne('11-03 11:00', { ...open, bundle_identifier: 'com.example.b', api_key_id: 'import' }),
  ofOne('10-25 10:00', { event: 'crash' }),
  ofOne('11-16 00:00', { event: 'crash' }),
].map(logRow)
const complaint = {
  ...at('11-09 10:10'),
  ...one,
  device: old,
  attachments: [
    { key: 'a', content_type: 'image/png', bytes: 2000, sha256: '00' },
    { key: 'b', content_type: 'image/png', bytes: 1000, sha256: '01' },
  ],
}
const praise = { ...at('11-10 10:00'), ...three, device: fresh }
const feedback = [complaint, praise, { ...praise, bundle_identifier: 'com.example.b' }].map(
  feedbackRow,
)

const expected: Record<string, object[]> = {
  'Active devices': [
    { day: '2026-11-02', devices: 2, users: 2 },
    { day: '2026-11-03', devices: 1, users: 1 },
    { day: '2026-11-09', devices: 1, users: 1 },
    { day: '2026-11-10', devices: 1, users: 1 },
  ],
  Funnel: [{ opened: 3, saw_cart: 1, bought: 1 }],
  'Weekly retention': [
    { first_week: '2026-11-02', weeks_later: 0, devices: 2 },
    { first_week: '2026-11-02', weeks_later: 1, devices: 1 },
    { first_week: '2026-11-09', weeks_later: 0, devices: 1 },
  ],
  'Crash-free sessions by version': [
    { version: '1.0', sessions: 5, crash_free: 80 },
    { version: '2.0', sessions: 2, crash_free: 100 },
  ],
  'Top screens': [
    { screen: 'home', views: 3, devices: 3 },
    { screen: 'cart', views: 1, devices: 1 },
  ],
  'p95 by path': [
    { path: '/a', requests: 2, p95: 195.5 },
    { path: '/b', requests: 1, p95: 50 },
  ],
  'Sessions per day': [
    { day: '2026-11-02', sessions: 3, median_seconds: 180, events: 8 },
    { day: '2026-11-03', sessions: 1, median_seconds: 0, events: 1 },
    { day: '2026-11-09', sessions: 1, median_seconds: 300, events: 2 },
    { day: '2026-11-10', sessions: 2, median_seconds: 90, events: 5 },
  ],
  'Adoption of versions': [
    { week: '2026-11-02', version: '1.0', devices: 2 },
    { week: '2026-11-09', version: '1.0', devices: 1 },
    { week: '2026-11-09', version: '2.0', devices: 1 },
  ],
  'Battery against crashes': [
    { battery_from: 0, events: 1, crashes_per_1000: 1000 },
    { battery_from: 80, events: 15, crashes_per_1000: 0 },
  ],
  'New crashes': [
    {
      fingerprint: '10152ffa42297722',
      crash: 'TypeError: x is not a function',
      first_version: '1.0',
      last_version: '1.0',
      devices: 1,
      events: 1,
    },
  ],
  'Late events': [
    { arrived: '1: within a minute', events: 15 },
    { arrived: '3: within a day', events: 1 },
  ],
  'What never arrived': [
    {
      device_uuid: deviceId(1),
      first_sequence: 4,
      last_sequence: 7,
      missing: 2,
      missing_under_rules: 0,
      rules_since: null,
    },
  ],
  'Clock skew': [{ device_uuid: deviceId(3), events: 1, seconds_ahead: 3600 }],
  'The last 50 events before a feedback': [
    { time: '2026-11-09 10:05:00.000', event: 'crash', params: { stack: trace } },
    { time: '2026-11-09 10:00:00.000', event: 'app_open', params: {} },
    { time: '2026-11-03 10:00:00.000', event: 'app_open', params: {} },
  ],
  Attachments: [{ content_type: 'image/png', pictures: 2, bytes: 3000 }],
  'Versions with the most feedback': [
    { version: '1.0', feedback: 1, per_100_devices: 50 },
    { version: '2.0', feedback: 1, per_100_devices: 100 },
  ],
  'Numbers of mixed types': [{ amount: 30.5, without_number: 1 }],
  'Unknown fields': [
    { field: 'log.sequence', events: 4 },
    { field: 'foo', events: 2 },
    { field: 'log.a', events: 1 },
  ],
  'What one API key sent': [{ day: '2026-11-10', events: 5, devices: 1, users: 1 }],
  'First events after the installation': [
    { event: 'request', events: 3, devices: 1 },
    { event: 'app_open', events: 1, devices: 1 },
  ],
  'Daily volume': [
    { day: '2026-11-02', logs: 8, feedback: 0 },
    { day: '2026-11-03', logs: 1, feedback: 0 },
    { day: '2026-11-09', logs: 2, feedback: 1 },
    { day: '2026-11-10', logs: 5, feedback: 1 },
  ],
  // The next five results are empty, because they come from counts that a console makes, and no
  // console runs here. packages/records/test/counts.slow.test.ts tests the counts.
  'Daily events, from the counts': [],
  'Devices per version, from the counts': [],
  'Events and params': [],
  'What changed in a version': [],
  'Stored otherwise than it was meant': [],
  'Latest devices': [
    {
      device_uuid: deviceId(3),
      device_os: null,
      device_version_name: '2.0',
      last_seen: '2026-11-10 10:00:00.000',
    },
    {
      device_uuid: deviceId(2),
      device_os: null,
      device_version_name: '1.0',
      last_seen: '2026-11-02 12:01:00.000',
    },
  ],
  'Sampled events': [
    { event: 'screen_view', stored: 4, estimated: 7, rate: 0.25 },
    { event: 'app_open', stored: 5, estimated: 5, rate: 1 },
    { event: 'purchase', stored: 3, estimated: 3, rate: 1 },
    { event: 'request', stored: 3, estimated: 3, rate: 1 },
    { event: 'crash', stored: 1, estimated: 1, rate: 1 },
  ],
  'Where acknowledged records are': [
    {
      kind: 'feedback',
      acknowledged: 3,
      stored: 3,
      dropped: 0,
      sampled: 0,
      suppressed: 0,
      dead_lettered: 0,
      waiting_or_repeated: 0,
    },
    {
      kind: 'logs',
      acknowledged: 49,
      stored: 17,
      dropped: 4,
      sampled: 2,
      suppressed: 3,
      dead_lettered: 2,
      waiting_or_repeated: 21,
    },
  ],
  'What was refused, and why': [
    { code: 'rate_limited', api_key_id: 'key-2', kind: 'logs', refused: 12 },
    { code: 'invalid_request', api_key_id: 'key-1', kind: 'feedback', refused: 1 },
  ],
  'What was erased': [{ kind: 'logs', erased: 1 }],
  'How often alerts fired': [
    { id: 'alert_000000000001', event: 'crash', times: 2, minutes_firing: 90 },
  ],
  'Is everything visible': [
    { kind: 'feedback', visible_until: '2026-11-15 23:59:59.000', is_complete: 0 },
    { kind: 'logs', visible_until: '2026-11-16 00:00:00.000', is_complete: 1 },
  ],
}

async function store(owner: ClickHouse): Promise<void> {
  // Inserts the rows twice, as happens after a lost confirmation.
  for (const _ of [1, 2]) {
    await insertRows(owner, 'logs', logs)
    const rows = feedback.length
    await owner.insertRows({ table: 'feedback', members: [member(feedback)], rows })
  }
  const refusal = new ClickHouseError('bad', { kind: 'rejected', code: 117 })
  const rejected = [...logs.slice(0, 2), ...logs.filter((row) => row.api_key_id === 'import')]
  for (const row of rejected)
    await addDeadLetter(owner, { table: 'logs', row: JSON.stringify(row), refusal })
  await owner.command(`INSERT INTO intake.outcomes_raw VALUES
    ('2026-11-10 09:00:00', 'key-2', 'logs', 'rate_limited', generateUUIDv4(), 7, ''),
    ('2026-11-10 09:01:00', 'key-2', 'logs', 'rate_limited', generateUUIDv4(), 5, ''),
    ('2026-11-10 09:01:00', 'key-2', 'logs', 'accepted', generateUUIDv4(), 40, ''),
    ('2026-11-10 09:01:00', 'key-2', 'feedback', 'accepted', generateUUIDv4(), 3, ''),
    ('2026-11-10 09:01:00', 'key-2', 'logs', 'suppressed', generateUUIDv4(), 3, ''),
    ('2026-11-10 09:01:00', 'key-2', 'logs', 'dropped', generateUUIDv4(), 4, 'rule_000000000001'),
    ('2026-11-10 09:01:00', 'key-2', 'logs', 'sampled', generateUUIDv4(), 2, 'rule_000000000002'),
    ('2026-11-10 09:01:00', '', '', 'overflow', generateUUIDv4(), 2, ''),
    ('2026-11-09 10:10:00', 'key-1', 'feedback', 'invalid_request', generateUUIDv4(), 1, ''),
    ('2026-10-09 10:10:00', 'key-1', 'feedback', 'invalid_request', generateUUIDv4(), 1, '')`)
  await owner.command(`INSERT INTO intake.logs_raw
      (id, time, bundle_identifier, device_uuid, received_at, ver, is_deleted)
    SELECT '01a0a1b2-0000-7000-8000-000000000001' AS id, UUIDv7ToDateTime(toUUID(id), 'UTC'), 'com.example.app',
      generateUUIDv4(), '2026-11-10 09:00:00', 18446744073709551615, 1`)
  const fired = (change: number, state: string, from: string, until: string) => ({
    id: 'alert_000000000001',
    change,
    bundle_identifier: 'com.example.app',
    event: 'crash',
    state,
    since: `2026-11-10T${from}:00.000Z`,
    evaluated_at: `2026-11-10T${until}:00.000Z`,
  })
  const changes = [
    fired(1, 'firing', '08:00', '08:30'),
    fired(2, 'ok', '08:31', '09:00'),
    fired(3, 'firing', '09:00', '10:00'),
  ]
  await insertRows(owner, 'alerts', changes)
  await owner.command(`INSERT INTO intake.watermark_raw VALUES
    ('logs', '2026-11-16 00:00:00.000'),
    ('feedback', '2026-11-15 23:59:59.000')`)
}

const params = {
  app: 'com.example.app',
  from: '2026-11-02 00:00:00',
  to: '2026-11-16 00:00:00',
  feedback: complaint.id,
  key: 'key-2',
}

const page = new URL('../../../docs/queries.md', import.meta.url)
const recipes = documentedQueries(readFileSync(page, 'utf8'))

t.test('each query of the page has a checked result', (t) => {
  t.ok(recipes.length >= 20)
  const checked = [...Object.keys(expected), 'Dead letters by reason']
  t.same(recipes.map(({ title }) => title).toSorted(), checked.toSorted())
  t.end()
})

for (const timeZone of ['UTC', 'Asia/Kathmandu']) {
  t.test(`on a server in ${timeZone}`, async (t) => {
    const { server, connect } = await startServer(t, { timeZone })
    const owner = connect(t)
    await store(owner)
    await testRecipes(t, owner, 'owner')
    for (const session of timeZone === 'UTC' ? [undefined, ...timeZones] : [undefined]) {
      const url = withSettings(server.analystUrl, session ? { session_timezone: session } : {})
      const analyst = openClickHouse(t, { url })
      const [zone] = await analyst.query('SELECT timezone() AS name')
      t.same(zone, { name: session ?? 'UTC' })
      await testRecipes(t, analyst, `analyst in ${session ?? 'the zone of the profile'}`)
    }
  })
}

async function testRecipes(t: Test, reader: ClickHouse, who: string): Promise<void> {
  for (const { title, sql } of recipes) {
    if (title === 'Dead letters by reason') {
      // The time of a dead letter is when the worker wrote it, so the period must include today.
      const today = { ...params, from: '2020-01-01 00:00:00', to: '2200-01-01 00:00:00' }
      const found = await reader.query(sql, today)
      t.match(found, [{ table: 'logs', error_code: 117, rows: 2 }], `${title}, ${who}`)
    } else {
      t.strictSame(await reader.query(sql, params), expected[title], `${title}, ${who}`)
    }
  }
}
