import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createPolicyStore } from '@intake/access'
import { attachmentKey } from '@intake/contract'
import { countNames, refreshCounts } from '@intake/records'
import { applyRetention } from '../src/retention/apply-retention.ts'
import { correctPolicy } from '../src/retention/correct-policy.ts'
import { factsRow, feedbackRow, logRow, startServices, uuidV7 } from './services.ts'

const { clickhouse, insert, intake, keys, number, objects } = await startServices(t)
const services = { clickhouse, redis: keys, objects, installation: '' }
const policy = createPolicyStore({ redis: keys })

const at = (time: string) => ({ id: uuidV7(time), time })
const rowsOf = (table: string, bundle: string) =>
  number(`count() AS n FROM intake.${table} WHERE bundle_identifier = '${bundle}'`)
const eventsOf = (bundle: string) =>
  number(`sum(events) AS n FROM intake.hours WHERE bundle_identifier = '${bundle}'`)
/** Counts what arrived before this time, as the console does. */
const recount = async (until: string) => {
  const line = JSON.stringify({ kind: 'logs', visible_until: until })
  await clickhouse.insertRows({ table: 'watermark', members: [gzipSync(line)], rows: 1 })
  for (const name of countNames)
    await refreshCounts({ reader: clickhouse, store: clickhouse, name })
}

t.test('counts outlive their rows, and no recount changes them', async (t) => {
  await intake(['retention', 'set', 'logs', '90d'])
  t.match(await intake(['retention', 'show']), { stdout: /counts\t90d/ }, 'by default not')
  t.match(await intake(['retention', 'set', 'counts', '60d']), { stdout: 'counts\t90d\n' })
  t.match(await intake(['retention', 'set', 'counts', '1095d']), { stdout: 'counts\t1095d\n' })
  const bundle_identifier = 'com.example.trends'
  const row = (time: string, fields: object = {}) =>
    logRow({ ...at(time), bundle_identifier, received_at: time, ...fields })
  // An address is a warning, which has an example.
  const mail = { params: { to: 'a@example.com' } }
  await insert('logs', [row('2026-07-10T08:00:00.000Z', mail), row('2026-07-10T08:30:00.000Z')])
  await insert('logs', [row('2026-11-10T08:00:00.000Z', mail)])
  await recount('2026-11-11T00:00:00.000Z')
  t.equal(await eventsOf(bundle_identifier), 3)
  // It arrives after the last count, before its month is dropped.
  const received_at = '2026-11-11T00:00:00.000Z'
  await insert('logs', [row('2026-07-10T09:00:00.000Z', { received_at })])
  const now = new Date('2026-11-20')
  t.match(await applyRetention(services, { now }), { logs: ['202607'], counts: [] })
  t.equal(await rowsOf('logs', bundle_identifier), 1)
  t.equal(await eventsOf(bundle_identifier), 4)
  const sketches = 'hours_raw WHERE toYYYYMM(hour) = 202607 AND notEmpty(device_states)'
  t.equal(await number(`count() AS n FROM intake.${sketches}`), 0, 'no former count is on disk')
  t.equal(await rowsOf('device_hours', bundle_identifier), 1)
  const examples = await clickhouse.query(
    `SELECT toString(day) AS day, arrayExists(one -> toUInt128(one.example) != 0, warnings) AS has_example
     FROM intake.days_raw WHERE bundle_identifier = '${bundle_identifier}' AND notEmpty(warnings) ORDER BY day`,
  )
  t.same(examples, [
    { day: '2026-07-10', has_example: 0 },
    { day: '2026-11-10', has_example: 1 },
  ])

  // A late record, and a mark as an erasure makes it, have the hour counted again.
  const late = { received_at: '2026-11-12T00:00:00.000Z' }
  await insert('logs', [row('2026-07-10T08:10:00.000Z', late)])
  await clickhouse.insertSelect(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour)
     SELECT '${bundle_identifier}', toDateTime('2026-07-10 09:00:00', 'UTC')`,
  )
  await recount('2026-11-13T00:00:00.000Z')
  t.equal(await eventsOf(bundle_identifier), 4)
  await intake(['retention', 'set', 'logs', 'never'])
  await recount('2026-11-14T00:00:00.000Z')
  t.equal(await eventsOf(bundle_identifier), 4, 'not even when nothing is dropped any more')
  t.match(await intake(['retention', 'show']), { stdout: /counts\tnever dropped/ })
  await intake(['retention', 'set', 'logs', '90d'])

  const years = new Date(Date.parse('2026-08-01') + 1_095 * 86_400_000)
  t.match(await applyRetention(services, { now: years }), {
    logs: ['202607', '202611'],
    counts: ['202607'],
  })
  t.equal(await eventsOf(bundle_identifier), 1)
})

t.test('an application with a shorter period loses its rows by days, others do not', async (t) => {
  const bundle_identifier = 'com.example.short'
  const long = 'com.example.long'
  for (const kind of ['logs', 'feedback']) {
    const set = ['retention', 'set', kind, '30d', '--bundle', bundle_identifier]
    t.match(await intake(set), { code: 0, stdout: `${kind}\t30d\t${bundle_identifier}\n` })
  }
  const known = (await policy.load())!
  t.equal(known.applicationRetention.logs.get(bundle_identifier)?.days, 30, 'gateways know it')
  const now = new Date('2026-11-20T10:00:00.000Z')
  const [old, kept] = ['2026-10-20T23:59:59.999Z', '2026-10-21T00:00:00.000Z']
  const received_at = '2026-11-14T12:00:00.000Z'
  for (const bundle of [bundle_identifier, long]) {
    const of = (time: string) => ({ ...at(time), bundle_identifier: bundle, received_at })
    const row = logRow(of(old))
    const hidden = { ...row, received_at: '2026-11-14T13:00:00.000Z' }
    await insert('logs', [row, logRow(of(kept))])
    await insert('logs', [hidden])
    await clickhouse.insertSelect(
      `INSERT INTO intake.logs_raw (bundle_identifier, time, id, device_uuid, ver, is_deleted)
       SELECT '${bundle}', '${old.slice(0, -1)}', '${uuidV7(old)}', generateUUIDv4(), 18446744073709551615, 1`,
    )
  }
  const body = Buffer.from('a picture')
  const sha256 = createHash('sha256').update(body).digest('hex')
  const addFeedback = async (time: string, bundle = bundle_identifier) => {
    const row = feedbackRow({ ...at(time), bundle_identifier: bundle })
    const key = attachmentKey({ ...row, number: 1, sha256, extension: 'png' })
    await objects.put({ key, body, contentType: 'image/png', sha256 })
    await insert('feedback', [row])
    await insert('attachments', [factsRow(row)])
    return key
  }
  const pictures = [await addFeedback(old), await addFeedback(kept), await addFeedback(old, long)]
  await recount('2026-11-15T00:00:00.000Z')
  const dry = await intake(['retention', 'apply', '--dry-run'])
  t.match(dry.stdout, /^logs\tto delete: 4 rows of 202610\tcom.example.short$/m)

  t.match(await applyRetention(services, { now }), {
    logs: [],
    applications: [
      { kind: 'logs', bundleIdentifier: bundle_identifier, month: '202610', rows: 3 },
      { kind: 'feedback', bundleIdentifier: bundle_identifier, month: '202610', rows: 2 },
    ],
    objects: 1,
  })
  t.equal(await rowsOf('logs_raw', bundle_identifier), 1)
  t.equal(await rowsOf('logs_raw', long), 4)
  for (const table of ['feedback_raw', 'attachments_raw']) {
    t.equal(await rowsOf(table, bundle_identifier), 1, table)
    t.equal(await rowsOf(table, long), 1, table)
  }
  const left = await Promise.all(pictures.map((key) => objects.get(key)))
  t.same(left, [undefined, body, body])
  t.equal(await eventsOf(bundle_identifier), 2, 'its counts are kept')
  t.equal(
    (await policy.load())!.applicationRetention.logs.get(bundle_identifier)?.droppedUntilMs,
    Date.parse(kept),
    'gateways refuse what may come back',
  )
  t.same((await applyRetention(services, { now })).applications, [], 'nothing is left to do')

  t.match(JSON.parse((await intake(['retention', 'show', '--json'])).stdout), {
    logs: 90,
    counts: 1095,
    applications: [
      { kind: 'feedback', bundle_identifier, days: 30 },
      { kind: 'logs', bundle_identifier, days: 30 },
    ],
  })
})

t.test('an erased dead letter leaves no tombstone where an application is dropped', async (t) => {
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  const letter = (time: string) => {
    const { id } = at(time)
    return `('logs', 'com.example.short', UUIDv7ToDateTime(toUUID('${id}'), 'UTC'), '${id}', generateUUIDv4(), 18446744073709551615, 1)`
  }
  await clickhouse.insertSelect(
    `INSERT INTO intake.dead_letters_raw (table, bundle_identifier, time, id, device_uuid, ver, is_deleted)
     VALUES ${letter(day(29))}, ${letter(day(40))}`,
  )
  t.match(await intake(['erasures', 'apply']), { code: 0 })
  t.equal(
    await number(
      `count() AS n FROM intake.logs_raw WHERE bundle_identifier = 'com.example.short' AND is_deleted`,
    ),
    1,
  )
})

t.test('what differs from ClickHouse is corrected, and wrong usage is refused', async (t) => {
  const bundle = ['--bundle', 'com.example.short']
  await policy.setRetention('logs', 5, 'com.example.gone')
  await policy.setRetention('logs', undefined, 'com.example.short')
  t.match((await intake(['doctor'])).stdout, /Gateways do not know the retention of logs/)
  t.match(await correctPolicy(services), true)
  const { logs } = (await policy.load())!.applicationRetention
  t.equal(logs.get('com.example.gone')?.days, undefined)
  t.equal(logs.get('com.example.short')?.days, 30)

  for (const [args, stderr] of [
    [['logs', '90d', ...bundle], /must be shorter than the general one \(90d\)/],
    [['logs', 'never', ...bundle], /must be shorter/],
    [['logs', '9d', '--bundle', 'com.example.*'], /whole bundle identifier/],
    [['counts', '9d', ...bundle], /for logs and feedback/],
    [['logs', 'general'], /add --bundle/],
  ] as const) {
    t.match(await intake(['retention', 'set', ...args]), { code: 1, stderr })
  }
  for (const kind of ['logs', 'feedback']) {
    const set = await intake(['retention', 'set', kind, 'general', ...bundle])
    t.equal(set.code, 0)
  }
  t.notMatch((await intake(['retention', 'show'])).stdout, 'com.example.short')
  t.equal(
    (await policy.load())!.applicationRetention.logs.get('com.example.short')?.days,
    undefined,
  )
})
