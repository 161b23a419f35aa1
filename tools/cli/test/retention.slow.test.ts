import { mock } from 'node:test'
import t from 'tap'
import { createPolicyStore } from '@intake/access'
import { attachmentKey, thumbnailKey } from '@intake/contract'
import { countNames, refreshCounts } from '@intake/records'
import { systemClock } from '@intake/runtime'
import { insertRows } from '../../../packages/schema/test/fixture.ts'
import { applyRetention } from '../src/retention/apply-retention.ts'
import {
  factsRow,
  feedbackRow,
  logRow,
  picture,
  pictureSha,
  startServices,
  user,
  uuidV7,
  waitForNoGateway,
  withoutPause,
} from './services.ts'

const started = await startServices(t)
const { reject, clickhouse, insert, intake, keys, number, objects, putPicture } = started
const services = { clickhouse, redis: keys, objects, installation: '' }
const policy = createPolicyStore({ redis: keys })

const at = (time: string) => ({ id: uuidV7(time), time })
const apply = (now: string | number) => applyRetention(services, { now: new Date(now) })
waitForNoGateway(t)
const set = async (kind: string, period: string, ...more: string[]) =>
  (await intake(['retention', 'set', kind, period, ...more])).stdout
const droppedUntil = async (bundle = '') => (await policy.load())!.droppedUntilMs.logs.get(bundle)
const rowsOf = (table: string, bundle?: string) =>
  number(
    `count() AS n FROM intake.${table}${bundle ? ` WHERE bundle_identifier = '${bundle}'` : ''}`,
  )
const eventsOf = (bundle: string) =>
  number(`sum(events) AS n FROM intake.hours WHERE bundle_identifier = '${bundle}'`)
/** Counts what arrived before this time, as the console does. */
const recount = async (visible_until: string) => {
  await insertRows(clickhouse, 'watermark', [{ kind: 'logs', visible_until }])
  for (const name of countNames)
    await refreshCounts({ reader: clickhouse, store: clickhouse, name })
}
/** Waits for the mutations of a table. */
const untilDeleted = (table: string) =>
  clickhouse.command(`ALTER TABLE intake.${table} DELETE WHERE false SETTINGS mutations_sync = 1`)
const days90 = 90 * 86_400_000

t.test('nothing is dropped by default', async (t) => {
  const { stdout } = await intake(['retention', 'show'])
  const kinds = ['logs', 'feedback', 'dead-letters', 'counts']
  t.equal(stdout, kinds.map((kind) => `${kind}\tnever dropped\n`).join(''))
  await insert('logs', [logRow(at('2021-01-01T00:00:00.000Z'))])
  t.match(await apply('2030-01-01'), { logs: [], feedback: [], deadLetters: 0, objects: 0 })
  t.equal(await rowsOf('logs'), 1)
})

t.test('whole months are dropped when their last moment is too old', async (t) => {
  t.match(await set('logs', '90d'), /^logs\t90d$/m)
  const times = ['06-30T23:59:59.999', '07-01T00:00:00.000', '07-31T23:59:59.999']
  await insert(
    'logs',
    times.map((time) => logRow(at(`2026-${time}Z`))),
  )
  const end = Date.parse('2026-08-01T00:00:00.000Z')
  t.match(await apply(end + days90 - 1), { logs: ['202101', '202606'] })
  t.equal(await rowsOf('logs'), 2, 'a month is kept whole until it is over')
  t.match(await apply(end + days90), { logs: ['202607'] })
  t.equal(await rowsOf('logs_raw'), 0)
  t.equal(await droppedUntil(), end, 'gateways refuse what may come back')
  await set('logs', 'never')
  await keys.hset('{intake}:retention', 'logs:dropped-until', 'lost')
  await apply(end + days90)
  t.equal(await droppedUntil(), end, 'even if Redis has lost it and nothing is dropped any more')
  await set('logs', '90d')
})

t.test('a hidden repeat does not reappear, and a late one is dropped next time', async (t) => {
  const row = logRow({ ...at('2026-07-10T00:00:00.000Z'), event: 'first' })
  await insert('logs', [row])
  await insert('logs', [{ ...row, event: 'repeat', received_at: '2026-07-30T00:00:00.000Z' }])
  for (const _ of [1, 2]) {
    t.match(await apply('2026-11-20'), { logs: ['202607'] })
    t.equal(await rowsOf('logs_raw'), 0)
    await insert('logs', [row])
  }
})

t.test(
  'feedback goes with its objects, also those of forms that were never finished',
  async (t) => {
    await set('feedback', '30d')
    const put = async (day: string) => {
      const id = uuidV7('2026-07-10T00:00:00.000Z')
      return (await putPicture(`feedback/${day}/${id}/1-${pictureSha}.png`)).key
    }
    await insert('feedback', [feedbackRow(at('2026-07-10T00:00:00.000Z')), feedbackRow()])
    // Facts of attachments can be stored after their feedback was dropped. So June has facts here,
    // but no feedback.
    for (const time of ['2026-06-10T00:00:00.000Z', '2026-07-10T00:00:00.000Z'])
      await insert('attachments', [factsRow(feedbackRow(at(time)))])
    await insert('attachments', [factsRow(feedbackRow())])
    const old = await put('2026/07/10')
    const gone = [old, thumbnailKey(old), await put('2026/06/12')]
    await putPicture(thumbnailKey(old))
    const recent = await put('2026/11/21')
    const dry = await intake(['retention', 'apply', '--dry-run', '--json'])
    const found = JSON.parse(dry.stdout) as { dryRun: boolean; feedback: string[] }
    t.ok(found.dryRun && found.feedback.includes('202607'), dry.stdout)
    t.match(await intake(['retention', 'apply', '--dry-run']), {
      code: 0,
      stdout: /^To drop; nothing.*\nfeedback\tmonths: 202606 202607\n/s,
    })
    t.equal(await rowsOf('feedback'), 2)
    t.same(await objects.get(old), picture)
    const report = { feedback: ['202606', '202607'], objects: 3 }
    t.match(await apply('2026-11-22'), report)
    const { stdout } = await intake(['erasures', 'list'])
    const last = JSON.parse(stdout.trim().split('\n').at(-1)!) as object
    t.match(last, { kind: 'retention', finished_at: String, report })
    t.equal(await rowsOf('feedback'), 1)
    for (const key of gone) t.equal(await objects.get(key), undefined)
    t.equal(await rowsOf('attachments_raw'), 1)
    t.same(await objects.get(recent), picture)
  },
)

t.test('dead letters are deleted by the time of their failure', async (t) => {
  await set('dead-letters', '7d')
  await reject(logRow({ unique_user_id: user() }))
  t.equal((await apply(Date.now() + 6 * 86_400_000)).deadLetters, 0)
  t.equal((await apply(Date.now() + 8 * 86_400_000)).deadLetters, 1)
  await untilDeleted('dead_letters_raw')
  t.equal(await rowsOf('dead_letters_raw'), 0)

  // An export that runs later must see that it was replayed.
  await reject(logRow({ unique_user_id: user() }))
  const failed = Date.now() + 1
  t.match(await intake(['dead-letters', 'replay', '--all']), { code: 0 })
  t.equal((await apply(failed + 7 * 86_400_000)).deadLetters, 1)
  await untilDeleted('dead_letters_raw')
  t.equal(await rowsOf('dead_letters_raw WHERE is_deleted = 1'), 1)
})

t.test('counts outlive their rows, and no recount changes them', async (t) => {
  await set('feedback', 'never')
  t.match(await intake(['retention', 'show']), { stdout: /counts\t90d/ }, 'by default not')
  t.match(await set('counts', '60d'), /^counts\t90d$/m)
  t.match(await set('counts', '1095d'), /^counts\t1095d$/m)
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
  // Its hour could not be counted, and is not due again.
  await insertRows(clickhouse, 'recounts', [
    { bundle_identifier, hour: '2026-07-10 09:00:01', asked_at: '2100-01-01 00:00:00' },
  ])
  await clickhouse.insertSelect(
    `INSERT INTO intake.outcomes_raw (minute, code, records)
     SELECT arrayJoin(['2026-07-10 08:00:00', '2026-11-10 08:00:00'])::DateTime('UTC'), 'accepted', 2`,
  )
  t.match(await apply('2026-11-20'), { logs: ['202607'], counts: [] })
  t.equal(await rowsOf('outcomes'), 2)
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
  await set('logs', 'never')
  await recount('2026-11-14T00:00:00.000Z')
  t.equal(await eventsOf(bundle_identifier), 4, 'not even when nothing is dropped any more')
  t.match(await intake(['retention', 'show']), { stdout: /counts\tnever dropped/ })
  await set('logs', '90d')

  t.match(await apply(Date.parse('2026-08-01') + 1_095 * 86_400_000), {
    logs: ['202607', '202611'],
    counts: ['202607'],
  })
  t.equal(await eventsOf(bundle_identifier), 1)
  t.equal(await number('count() AS n FROM intake.days_raw WHERE toYYYYMM(day) = 202607'), 0)
  t.equal(await rowsOf('outcomes'), 1, 'those of July went with its counts')
})

t.test('an application with a shorter period loses its rows by days, others do not', async (t) => {
  const bundle_identifier = 'com.example.short'
  const long = 'com.example.long'
  for (const kind of ['logs', 'feedback']) {
    const stdout = await set(kind, '30d', '--bundle', bundle_identifier)
    t.match(stdout, `\n${kind}\t30d\t${bundle_identifier}\n`)
  }
  const now = '2026-11-20T10:00:00.000Z'
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
  const addFeedback = async (time: string, bundle = bundle_identifier) => {
    const row = feedbackRow({ ...at(time), bundle_identifier: bundle })
    const { key } = await putPicture(
      attachmentKey({ ...row, number: 1, sha256: pictureSha, extension: 'png' }),
    )
    await insert('feedback', [row])
    await insert('attachments', [factsRow(row)])
    return key
  }
  const pictures = [await addFeedback(old), await addFeedback(kept), await addFeedback(old, long)]
  await recount('2026-11-15T00:00:00.000Z')
  const dry = await intake(['retention', 'apply', '--dry-run'])
  t.match(dry.stdout, /^To drop[^]*^feedback\t\d rows of 202610\tcom.example.short$/m)

  t.match(await apply(now), {
    logs: [],
    applications: [
      { kind: 'logs', bundleIdentifier: bundle_identifier, month: '202610', rows: 3 },
      { kind: 'feedback', bundleIdentifier: bundle_identifier, month: '202610', rows: 2 },
    ],
    objects: 1,
  })
  for (const table of ['logs_raw', 'feedback_raw', 'attachments_raw']) await untilDeleted(table)
  t.equal(await rowsOf('logs_raw', bundle_identifier), 1)
  t.equal(await rowsOf('logs_raw', long), 4)
  for (const table of ['feedback_raw', 'attachments_raw']) {
    t.equal(await rowsOf(table, bundle_identifier), 1, table)
    t.equal(await rowsOf(table, long), 1, table)
  }
  const left = await Promise.all(pictures.map((key) => objects.get(key)))
  t.same(left, [undefined, picture, picture])
  t.equal(await eventsOf(bundle_identifier), 2, 'its counts are kept')
  const until = await droppedUntil(bundle_identifier)
  t.equal(until, Date.parse(kept), 'gateways refuse what may come back')
  t.same((await apply(now)).applications, [], 'nothing is left to do')
  await keys.del('{intake}:retention')
  await set('logs', 'general', '--bundle', bundle_identifier)
  await apply(now)
  t.equal(await droppedUntil(bundle_identifier), until, 'even after Redis was lost')
  await set('logs', '30d', '--bundle', bundle_identifier)

  t.match(JSON.parse((await intake(['retention', 'show', '--json'])).stdout), {
    logs: 90,
    counts: 1095,
    applications: [
      { kind: 'feedback', bundle_identifier, days: 30 },
      { kind: 'logs', bundle_identifier, days: 30 },
    ],
  })
})

t.test('a call after an interrupted one waits, too, until gateways know', async (t) => {
  await insert('logs', [logRow(at('2026-07-10T00:00:00.000Z'))])
  const now = Date.parse('2040-01-01')
  const { setTimeout } = systemClock
  systemClock.setTimeout = (run, ms) => {
    if (ms === 45_000) throw new Error('killed')
    return setTimeout(run, ms)
  }
  await t.rejects(apply(now), /killed/).finally(() => (systemClock.setTimeout = setTimeout))
  t.equal(await rowsOf('logs_raw WHERE toYYYYMM(time) = 202607'), 1)
  const { logs } = await withoutPause(t, () => apply(now))
  t.ok(logs.includes('202607'))
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

t.test('wrong usage is refused, and an application loses its period', async (t) => {
  const bundle = ['--bundle', 'com.example.short']
  for (const [args, stderr] of [
    [['logs', '90d', ...bundle], /must be shorter than the general one \(90d\)/],
    [['logs', 'never', ...bundle], /must be shorter/],
    [['logs', '9d', '--bundle', 'com.example.*'], /whole bundle identifier/],
    [['counts', '9d', ...bundle], /for logs and feedback/],
    [['logs', 'general'], /add --bundle/],
    [['logs', '90'], /1d to 36500d/],
    [['pictures', '9d'], /choices are logs/],
  ] as const) {
    t.match(await intake(['retention', 'set', ...args]), { code: 1, stderr })
  }
  for (const kind of ['logs', 'feedback']) t.match(await set(kind, 'general', ...bundle), 'counts')
  t.notMatch((await intake(['retention', 'show'])).stdout, 'com.example.short')
})

t.test('a wrong clock of this machine drops nothing', async (t) => {
  const now = Date.now()
  const bundle_identifier = 'com.example.now'
  await insert('logs', [logRow({ ...at(new Date(now).toISOString()), bundle_identifier })])
  mock.timers.enable({ apis: ['Date'], now: now + 5 * days90 })
  t.teardown(() => mock.timers.reset())
  t.match(await intake(['retention', 'apply']), { code: 0 })
  t.equal(await rowsOf('logs_raw', bundle_identifier), 1)
})
