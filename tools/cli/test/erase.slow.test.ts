import { createSecretKey, randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPolicyStore } from '@intake/access'
import type { ClickHouse, QueryParams } from '@intake/clickhouse'
import { thumbnailKey } from '@intake/contract'
import { countNames, erase as eraseSubject, refreshCounts } from '@intake/records'
import { registerShard } from '@intake/queue'
import { createJobSource } from '@intake/queue/consume'
import { until } from '@intake/test-kit/until'
import {
  createIntakeProcess,
  factsRow,
  feedbackRow,
  logRow,
  logsOf,
  picture,
  pictureSha,
  startServices,
  user,
  withoutPause,
} from './services.ts'

const services = await startServices(t, { unshared: true })
const { reject, clickhouse, dataDir, enqueue, insert } = services
const { intake, keys, number, objects, putPicture } = services
const intakeProcess = createIntakeProcess({ cwd: dataDir, env: services.endpoints })

interface Report {
  tombstones: { logs: number; feedback: number; deadLetters: number }
  framesAwaited: number
  rowsDeleted: number
  objectsDeleted: number
  complete: boolean
  remaining: Record<string, number>
}

async function erase(...args: string[]): Promise<Report> {
  const outcome = await intake([...args, '--yes', '--json'])
  if (outcome.stdout === '') throw new Error(outcome.stderr)
  return JSON.parse(outcome.stdout) as Report
}

/** Erases a user in this process. `late` runs once, when the deletion of events has begun. */
async function eraseHere(
  id: string,
  options: {
    clickhouse?: ClickHouse
    late?: () => Promise<unknown>
    progress?: (sentence: string) => void
  } = {},
) {
  const { clickhouse: used = clickhouse, progress = () => {} } = options
  let { late } = options
  const interrupted = {
    ...used,
    async command(sql: string, params?: Record<string, unknown>) {
      await used.command(sql, params)
      if (!sql.includes('logs_raw UPDATE _row_exists')) return
      const run = late
      late = undefined
      await run?.()
    },
  }
  const report = await eraseSubject({
    services: { clickhouse: interrupted, redis: keys, objects, installation: 'x' },
    subject: { kind: 'user', id },
    subjectKey: createSecretKey(Buffer.alloc(32)),
    deadline: performance.now() + 600_000,
    progress,
  })
  if (late !== undefined) throw new Error('no event was deleted')
  return report
}

async function recount(): Promise<void> {
  for (const name of countNames)
    await refreshCounts({ reader: clickhouse, store: clickhouse, name })
}

const rawRows = (id: string) =>
  number(`count() AS n FROM intake.logs_raw WHERE unique_user_id = '${id}'`)

/** Whether a text is in any file of ClickHouse: in parts, mutations or query logs. */
async function isOnDisk(text: string): Promise<boolean> {
  // Repeats a search that fails because ClickHouse has removed files meanwhile: such a search may
  // also have missed a renamed file.
  const found = await until('all files are searched', async () => {
    const search = spawn('grep', ['-rqF', text, join(dataDir, 'clickhouse')], { stdio: 'ignore' })
    const [code] = (await once(search, 'close')) as [number | null]
    return code === 0 || code === 1 ? { isFound: code === 0 } : undefined
  })
  return found.isFound
}

/** Part folders on disk that are not active parts. */
async function strayParts(table: string): Promise<string[]> {
  const [info] = await clickhouse.query<{ path: string }>(
    'SELECT arrayElement(data_paths, 1) AS path FROM system.tables ' +
      `WHERE database = 'intake' AND name = '${table}'`,
  )
  const active = await clickhouse.query<{ name: string }>(
    `SELECT name FROM system.parts WHERE database = 'intake' AND table = '${table}' AND active`,
  )
  const names = new Set(active.map(({ name }) => name))
  return readdirSync(info!.path).filter((name) => /^(\d{6}|all)_/.test(name) && !names.has(name))
}

t.test('a user is erased in every version and place; other users are kept', async (t) => {
  const [victim, other] = [user(), user()]
  const mine = logsOf(victim, 5)
  const theirs = logsOf(other, 5)
  await insert('logs', [...mine, ...theirs])
  await insert('logs', mine)
  const feedback = feedbackRow({ unique_user_id: victim })
  const folder = `feedback/${feedback.time.slice(0, 10).replaceAll('-', '/')}/${feedback.id}`
  const key = `${folder}/1-${pictureSha}.png`
  const keptKey = `feedback/2026/11/21/${randomUUID()}/1-${pictureSha}.png`
  const [mineKeys, keptKeys] = [key, keptKey].map((one) => [one, thumbnailKey(one)])
  for (const one of [...mineKeys!, ...keptKeys!]) await putPicture(one)
  await insert('feedback', [{ ...feedback, attachments: [await putPicture(key)] }])
  const examined = factsRow(feedback, [key])
  await insert('attachments', [examined, factsRow(feedbackRow(), [keptKey])])
  const bad = logRow({ unique_user_id: victim, device: 'bad' })
  await reject(bad)
  t.ok(await isOnDisk(victim))

  const dry = await intake(['user', 'erase', victim])
  t.match(dry, {
    code: 3,
    stdout:
      /^11 rows and 1 dead letter are stored, 0 frames in Redis have more\.\nNothing is erased/,
    stderr: '',
  })
  const counted = await intake(['user', 'erase', victim, '--json'])
  t.equal(counted.code, 3)
  t.same(JSON.parse(counted.stdout), { preview: true, rows: 11, deadLetters: 1, frames: 0 })
  t.equal(await rawRows(victim), 10)

  const erased = await intakeProcess(['user', 'erase', victim, '--yes', '--json'])
  t.match(JSON.parse(erased.stdout), {
    complete: true,
    tombstones: { logs: 5, feedback: 1, deadLetters: 1 },
    rowsDeleted: 13,
    objectsDeleted: 2,
    remaining: { frames: 0, rows: 0, parts: 0 },
  })
  t.equal(await rawRows(victim), 0)
  t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${other}'`), 5)
  t.equal(await number('count() AS n FROM intake.dead_letters'), 0)
  for (const one of mineKeys!) t.equal(await objects.get(one), undefined)
  for (const one of keptKeys!) t.same(await objects.get(one), picture)
  t.equal(await number('count() AS n FROM intake.attachments_raw'), 1, 'of the other user')
  t.notOk(await isOnDisk(victim), 'not in any file of ClickHouse')
  // Waits, because an ordinary merge may replace parts at any time.
  for (const table of ['logs_raw', 'feedback_raw', 'dead_letters_raw', 'attachments_raw']) {
    await until('no replaced part is left', async () => (await strayParts(table)).length === 0)
  }

  t.test('a repeat is never visible, and erasures apply deletes its payload', async (t) => {
    await insert('logs', mine)
    await insert('logs', [{ ...bad, device: {} }])
    await reject(mine[0]!)
    // A worker that read the feedback before the erasure may store its thumbnail and facts after
    // the erasure.
    for (const one of mineKeys!) await putPicture(one)
    await insert('attachments', [examined])
    await insert('feedback', [feedback])
    t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${victim}'`), 0)
    t.equal(await number('count() AS n FROM intake.feedback'), 0)
    t.equal(await rawRows(victim), 6)
    const applied = await intake(['erasures', 'apply', '--json'])
    t.match(JSON.parse(applied.stdout), { complete: true })
    t.equal(await rawRows(victim), 0)
    t.equal(await number('count() AS n FROM intake.dead_letters'), 0)
    for (const one of mineKeys!) t.equal(await objects.get(one), undefined)
    t.equal(await number('count() AS n FROM intake.attachments_raw'), 1)
    t.notOk(await isOnDisk(victim))
  })

  t.test('the list of erasures is the proof, and does not name the user', async (t) => {
    const { stdout } = await intake(['erasures', 'list'])
    const [first] = stdout.split('\n')
    t.match(JSON.parse(first!), {
      kind: 'user',
      // Neither the id nor the mark of the installation, which is in ClickHouse too, suffices to
      // compute it.
      subject_sha256: /^[\da-f]{64}$/,
      finished_at: String,
      report: { complete: true, rowsDeleted: 13 },
    })
    t.notMatch(stdout, victim)
  })
})

t.test('a version hidden behind the record of another user is deleted', async (t) => {
  const [victim, other] = [user(), user()]
  const [visible] = logsOf(other, 1)
  const hidden = { ...visible, unique_user_id: victim, received_at: '2026-11-21T00:00:00.000Z' }
  // Inserts the rows separately, because ClickHouse would collapse the rows of a single insert.
  await insert('logs', [visible!])
  await insert('logs', [hidden])
  t.match(await erase('user', 'erase', victim), {
    complete: true,
    tombstones: { logs: 0 },
    rowsDeleted: 1,
  })
  t.equal(await rawRows(victim), 0)
  t.equal(await rawRows(other), 1)
  t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${other}'`), 1)
  t.notOk(await isOnDisk(victim))
})

t.test('names from erased events are in no count, not even in a replaced part', async (t) => {
  const [victim, other] = [user(), user()]
  const name = `opened_${randomUUID()}`
  const params = { [`p_${randomUUID()}`]: 'a', mail: 'victim@example.com' }
  const [mine] = logsOf(victim, 1, { event: name, params })
  const theirs = logsOf(other, 3)
  await insert('logs', [mine!, ...theirs])
  await recount()
  t.equal(await inCounts(name), 2)
  t.equal(await inCounts(mine!.id), 1, 'the example of a warning')

  t.match(await erase('user', 'erase', victim), { complete: true, remaining: { counts: 0 } })
  for (const text of [name, Object.keys(params)[0]!, mine!.id]) t.equal(await inCounts(text), 0)
  t.ok((await inCounts(theirs[0]!.event)) > 0, 'what others sent is still counted')
  for (const table of ['hours_raw', 'days_raw'])
    await until('no replaced part is left', async () => (await strayParts(table)).length === 0)
})

interface Identified {
  id: string
  time: string
  bundle_identifier: string
  device_uuid: string
}

/** Stores a tombstone, as an erasure that was killed afterwards. */
const bury = (
  { id, time, bundle_identifier, device_uuid }: Identified,
  daysAgo = 0,
  table = 'logs_raw',
) =>
  clickhouse.command(
    `INSERT INTO intake.${table} (id, time, bundle_identifier, device_uuid, received_at, ver, is_deleted)
     VALUES ('${id}', '${time.replace('Z', '')}', '${bundle_identifier}', '${device_uuid}',
       now64(3, 'UTC') - toIntervalDay(${daysAgo}), 18446744073709551615, 1)`,
  )

const inCounts = (text: string) =>
  number(`count() AS n FROM (
    SELECT toString(event_counts) AS counts FROM intake.hours_raw
    UNION ALL SELECT concat(toString(entries), toString(warnings)) FROM intake.days_raw)
    WHERE position(counts, '${text}') > 0`)

t.test('an erasure is not complete while a count from before it is stored', async (t) => {
  const victim = user()
  const [mine] = logsOf(victim, 1, { event: `late_${randomUUID()}` })
  await insert('logs', [mine!])
  // A worker that began to count before the erasure stores its count when the erasure has counted.
  const hour = `${mine!.time.slice(0, 13)}:00:00`
  const late = () =>
    clickhouse.insertSelect(
      `INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, ver)
       SELECT {bundle:String}, {hour:DateTime('UTC')}, [({event:String}, NULL, '', 1)], 1`,
      { bundle: mine!.bundle_identifier, hour: hour.replace('T', ' '), event: mine!.event },
    )
  t.match(await eraseHere(victim, { late }), { complete: true, remaining: { counts: 0 } })
  t.equal(await number(`count() AS n FROM intake.hours_raw WHERE ver = 1`), 0)
})

t.test('what nobody could count makes no erasure of others incomplete', async (t) => {
  const victim = user()
  await insert('logs', logsOf(victim, 1))
  await recount()
  // As `refreshCounts` leaves it: a former count, and a mark to try again, whose time has passed.
  await clickhouse.command(
    `INSERT INTO intake.days_raw (bundle_identifier, day, ver) VALUES ('too.large', '2026-11-20', 1)`,
  )
  await clickhouse.command(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour, asked_at)
     VALUES ('too.large', '2026-11-20 00:00:01', now64(3, 'UTC') - toIntervalHour(2))`,
  )
  t.match(await erase('user', 'erase', victim), { complete: true, remaining: { counts: 0 } })
  t.equal(await number(`count() AS n FROM intake.days_raw WHERE ver = 1`), 1, 'the case occurred')
})

t.test('--bundle erases in one application only', async (t) => {
  const victim = user()
  const here = logsOf(victim, 2)
  const elsewhere = logsOf(victim, 3, { bundle_identifier: 'com.example.other' })
  await insert('logs', [...here, ...elsewhere])
  const report = await erase('user', 'erase', victim, '--bundle', 'com.example.other')
  t.match(report, { complete: true, tombstones: { logs: 3 }, rowsDeleted: 3 })
  t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${victim}'`), 2)
})

t.test('a device is erased by its UUID, in any case', async (t) => {
  const device_uuid = randomUUID()
  const [one, two] = [user(), user()]
  await insert('logs', [
    ...logsOf(one, 2, { device_uuid }),
    ...logsOf(two, 2, { device_uuid }),
    ...logsOf(one, 1),
  ])
  const report = await erase('device', 'erase', device_uuid.toUpperCase())
  t.match(report, { complete: true, tombstones: { logs: 4 }, rowsDeleted: 4 })
  t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${one}'`), 1)
  t.equal(await number(`count() AS n FROM intake.logs WHERE unique_user_id = '${two}'`), 0)
})

t.test('purge refuses the id of a key that is unknown and has sent nothing', async (t) => {
  const range = ['--from', '2026-11-20T12:00:00Z', '--to', '2026-11-20T13:00:00Z']
  for (const more of [[], ['--yes']]) {
    const refused = await intake(['purge', '--api-key', 'key_mistyped', ...range, ...more])
    t.match(refused, { code: 1, stdout: '', stderr: /No API key has the id key_mistyped/ })
  }
  // The removed key has rows outside the given period.
  await insert('logs', logsOf(user(), 1, { api_key_id: 'key_removed' }))
  const later = ['--from', '2026-11-22', '--to', '2026-11-23']
  const counted = await intake(['purge', '--api-key', 'key_removed', ...later])
  t.match(counted, { code: 3, stdout: /^0 rows/ })
})

t.test('waits for the frames of the user in each shard, and for no others', async (t) => {
  const [victim, other] = [user(), user()]
  await registerShard(keys, 1)
  const mine = logsOf(victim, 4)
  for (const shard of [0, 1]) {
    await enqueue([mine[shard]!, mine[shard + 2]!, ...logsOf(other, 3)], { shard })
    await enqueue(logsOf(other, 3), { shard })
  }
  const early = await intake(['user', 'erase', victim, '--yes', '--wait', '0.01'])
  t.match(early, { code: 2, stdout: /INCOMPLETE: 2 frames in Redis/ }, 'out of time')

  // The erasure runs in this process, so that `progress` shows when it has read the frames.
  const said: string[] = []
  const done = eraseHere(victim, { progress: (sentence) => said.push(sentence) })
  await until('it waits', () => said.some((one) => one.startsWith('waiting for a worker')))
  await insert('logs', mine)
  for (const shard of [0, 1]) {
    const source = createJobSource({ redis: keys, kind: 'logs', shard, onError: t.fail })
    t.teardown(() => source.close())
    await source.complete((await source.claim())!, { claimNext: false })
  }
  t.match(await done, { complete: true, framesAwaited: 2, tombstones: { logs: 4 } })
  t.equal(await rawRows(victim), 0)
})

t.test('an erasure that was killed is completed by the next one', async (t) => {
  const victim = user()
  const mine = logsOf(victim, 4)
  await insert('logs', mine)
  await bury(mine[0]!)
  t.match(await erase('user', 'erase', victim), {
    complete: true,
    tombstones: { logs: 3 },
    rowsDeleted: 4,
  })
  t.equal(await rawRows(victim), 0)
})

t.test('what is repeated long after an erasure is erased by the next one', async (t) => {
  const [victim, other] = [user(), user()]
  t.match(await erase('user', 'erase', victim), { complete: true })
  const mine = logsOf(victim, 2)
  const [theirs] = logsOf(other, 1)
  const hidden = { ...theirs, unique_user_id: victim, received_at: '2026-11-21T00:00:00.000Z' }
  const feedback = feedbackRow({ unique_user_id: victim })
  const key = `feedback/${feedback.time.slice(0, 10).replaceAll('-', '/')}/${feedback.id}/1-${pictureSha}.png`
  for (const row of [...mine, theirs!]) await bury(row, 9)
  await bury(feedback, 9, 'feedback_raw')
  for (const rows of [[...mine, theirs!], [hidden]]) await insert('logs', rows)
  await reject({ ...feedback, attachments: [await putPicture(key)] }, { table: 'feedback' })
  t.match(await erase('user', 'erase', victim, '--wait', '2'), {
    complete: true,
    tombstones: { logs: 2, deadLetters: 1 },
    rowsDeleted: 4,
    objectsDeleted: 1,
  })
  t.equal(await rawRows(victim), 0)
  t.equal(await rawRows(other), 1)
  t.equal(await objects.get(key), undefined)
})

t.test('an erasure that was killed before ClickHouse rewrites parts is completed', async (t) => {
  const victim = user()
  const mine = logsOf(victim, 4)
  await insert('logs', mine)
  await clickhouse.command(
    `ALTER TABLE intake.logs_raw UPDATE _row_exists = 0 WHERE id IN {ids:Array(UUID)}
     SETTINGS mutations_sync = 1`,
    { ids: mine.map(({ id }) => id) },
  )
  t.equal(await rawRows(victim), 0)
  t.ok(await isOnDisk(victim), 'they are only hidden')
  t.match(await erase('user', 'erase', victim), { complete: true, rowsDeleted: 0 })
  t.notOk(await isOnDisk(victim))
})

t.test('an erasure is not complete while rows are only hidden', async (t) => {
  const victim = user()
  await insert('logs', logsOf(victim, 2))
  let left = 0
  // As if the mask of a replica, or of another erasure, were written later.
  const command = async (sql: string, params?: QueryParams) => {
    if (left > 0 || !sql.includes('APPLY DELETED MASK')) return clickhouse.command(sql, params)
    left++
  }
  const report = await eraseHere(victim, { clickhouse: { ...clickhouse, command } })
  t.match(report, { complete: true, rowsDeleted: 2, remaining: { parts: 0 } })
  t.equal(left, 1, 'the case occurred')
  t.notOk(await isOnDisk(victim))
})

t.test('rows that become visible while it runs are erased too', async (t) => {
  const victim = user()
  const [first, late] = logsOf(victim, 2)
  await insert('logs', [first!])
  // Inserts a row once the deletion has started, which is after the tombstones were written. The
  // erasure cannot find the row in the queue, because the frame with the row has left it.
  const report = await eraseHere(victim, { late: () => insert('logs', [late!]) })
  t.match(report, { complete: true, tombstones: { logs: 2 }, rowsDeleted: 2 })
  t.equal(await rawRows(victim), 0)
})

t.test('wrong usage is reported in one sentence, with exit code 1', async (t) => {
  const cases: [string[], RegExp][] = [
    [['user', 'erase', ''], /^Name a user\.\n$/],
    [['device', 'erase', 'phone'], /^A device is named by its UUID\.\n$/],
    [
      ['purge', '--api-key', 'k', '--from', '2026-02-30', '--to', '2026-03-01'],
      /--from .* must be a time that exists/,
    ],
    [['purge', '--api-key', 'k', '--from', '2026-02-28', '--to', 'y'], /--to .* must be a time/],
    [
      ['purge', '--api-key', 'k', '--from', '2026-01-02', '--to', '2026-01-01'],
      /must be before --to/,
    ],
    [['user', 'erase', 'u', '--wait', 'no'], /Give a number of minutes/],
  ]
  for (const [args, stderr] of cases) t.match(await intake(args), { code: 1, stdout: '', stderr })
})

t.test('--suppress puts the user on the list of gateways, unsuppress removes it', async (t) => {
  const suppressed = user()
  const args = ['user', 'erase', suppressed, '--suppress', '--yes', '--json']
  const erased = await withoutPause(t, () => intake(args))
  t.equal(erased.code, 0, erased.stderr)
  t.match(erased.stderr, /^waiting 45 s until gateways know/m)
  t.match(JSON.parse(erased.stdout), { complete: true })
  t.equal((await createPolicyStore({ redis: keys }).load())!.suppressed.size, 1)
  const unsuppress = ['user', 'unsuppress', suppressed]
  for (const what of ['changed', 'repeated']) {
    const unconfirmed = await intake(unsuppress, { REDIS_ACK_REPLICAS: '1' })
    t.match(unconfirmed, { code: 1, stdout: '', stderr: /^The change is made, but/ }, what)
  }
  t.match(await intake(unsuppress), {
    code: 1,
    stderr: /is not suppressed/,
  })
})

/** Erases a user while no set or group of rows in a statement may be larger. */
async function eraseWithSmallSets(id: string, rowsMax: number) {
  const limited = (sql: string) =>
    `${sql} ${/ SETTINGS [^()]*$/.test(sql) ? ',' : 'SETTINGS'} max_rows_in_set = ${rowsMax}, max_rows_to_group_by = ${rowsMax}`
  const query = <Row>(sql: string, params?: QueryParams) =>
    clickhouse.query<Row>(limited(sql), params)
  const insertSelect = (sql: string, params?: QueryParams) =>
    clickhouse.insertSelect(limited(sql), params)
  return eraseHere(id, { clickhouse: { ...clickhouse, query, insertSelect } })
}

t.test('an erasure needs no memory for the records of others', async (t) => {
  const victim = user()
  const mine = logsOf(victim, 2)
  await insert('logs', mine)
  await reject(logsOf(victim, 1)[0]!)
  // Anybody may send the id of a record, from many devices.
  await clickhouse.insertSelect(
    `INSERT INTO intake.logs_raw (bundle_identifier, time, id, device_uuid)
     SELECT {bundle:String}, UUIDv7ToDateTime({id:UUID}, 'UTC'), {id:UUID}, generateUUIDv4()
     FROM numbers(20000)`,
    { bundle: mine[0]!.bundle_identifier, id: mine[0]!.id },
  )
  await clickhouse.insertSelect(
    `INSERT INTO intake.logs_raw (bundle_identifier, time, id)
     SELECT 'com.example.many', UUIDv7ToDateTime(id, 'UTC'),
       dateTimeToUUIDv7(toDateTime('2026-11-20 12:00:00', 'UTC') + number % 3600) AS id
     FROM numbers(20000)`,
  )
  const report = await eraseWithSmallSets(victim, 10_000)
  t.match(report, { complete: true, rowsDeleted: 3, tombstones: { logs: 2, deadLetters: 1 } })
})

t.test('an erasure does not search for what earlier ones have erased', async (t) => {
  const victim = user()
  t.match(await erase('user', 'erase', victim), { complete: true })
  await insert('logs', logsOf(victim, 2))
  await clickhouse.insertSelect(
    `INSERT INTO intake.logs_raw (bundle_identifier, time, id, received_at, ver, is_deleted)
     SELECT 'com.example.erased', UUIDv7ToDateTime(id, 'UTC'),
       dateTimeToUUIDv7(toDateTime('2026-11-20 12:00:00', 'UTC') + number % 3600) AS id,
       now64(3, 'UTC') - toIntervalDay(2), 18446744073709551615, 1
     FROM numbers(20000)`,
  )
  t.match(await eraseWithSmallSets(victim, 10_000), { complete: true, rowsDeleted: 2 })
})

t.test('an erasure needs little memory for half a million earlier ones', async (t) => {
  const victim = user()
  await reject(logsOf(victim, 1)[0]!)
  const tombstone = `table = 'logs' AND bundle_identifier = '' AND ver = 18446744073709551615`
  await clickhouse.insertSelect(
    `INSERT INTO intake.dead_letters_raw (table, time, id, device_uuid, ver, is_deleted)
     SELECT 'logs', toDateTime64('2026-11-20 12:00:00', 3, 'UTC'), {id:UUID}, generateUUIDv4(), 18446744073709551615, 1
     FROM numbers(520000)`,
    { id: randomUUID() },
  )
  const report = await eraseWithSmallSets(victim, 510_000)
  t.match(report, { complete: true, rowsDeleted: 1, tombstones: { deadLetters: 1 } })
  t.equal(await number(`count() AS n FROM intake.dead_letters_raw WHERE ${tombstone}`), 520_000)
})
