import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  createFolderTarget,
  exportRecords,
  verifyExport,
  type ExportTarget,
  type Manifest,
} from '@intake/records'
import { ClickHouseError } from '@intake/clickhouse'
import { tombstoneVer } from '@intake/schema'
import { readExport, readIds } from '@intake/test-kit/read-export'
import { startTcpProxy } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import {
  feedbackRow,
  logRow,
  startIntake,
  startServices,
  user,
  uuidV7,
  waitForNoGateway,
} from './services.ts'

const { reject, clickhouse, dataDir, server, insert, intake, endpoints } = await startServices(t)
const reader = { clickhouse, url: server.url }
waitForNoGateway(t)

/** A log row that happened and arrived at this time. */
const at = (time: string, fields: object = {}) =>
  logRow({ id: uuidV7(time), time, received_at: time, ...fields })
const setWatermark = (time: string) =>
  clickhouse.command(
    `INSERT INTO intake.watermark_raw (kind, visible_until)
     SELECT arrayJoin(['logs', 'feedback']), parseDateTime64BestEffort({time:String}, 3, 'UTC')`,
    { time },
  )

const folderOf = (name: string) => join(dataDir, name)
const manifestsOf = (name: string): Manifest[] => {
  const folder = join(folderOf(name), 'manifests')
  return readdirSync(folder)
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Manifest)
    .toSorted((a, b) => a.number - b.number)
}

/** Exports in this process. */
const exportTo = (target: ExportTarget, options: object = {}) =>
  exportRecords({
    clickhouse,
    installation: 'one',
    target,
    scope: { kinds: ['logs', 'feedback'], bundles: [], database: 'intake' },
    progress: () => undefined,
    ...options,
  })
const filesOf = (name: string) =>
  readdirSync(folderOf(name), { recursive: true })
    .map(String)
    .filter((file) => file !== 'lock.json')
    .toSorted()

const visible = async () => {
  const rows = await clickhouse.query<{ id: string }>(
    `SELECT toString(id) AS id FROM (SELECT id, received_at FROM intake.logs UNION ALL SELECT id, received_at FROM intake.feedback)
     WHERE received_at < (SELECT min(visible_until) FROM intake.watermark) ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}

const [erased, dead] = [user(), at('2026-11-20T09:00:00.500Z', { device: 'bad' })]
const first = [
  ...Array.from({ length: 50 }, (_, n) => at(`2026-11-19T23:59:${String(n + 10)}.999Z`)),
  ...Array.from({ length: 30 }, (_, n) =>
    at(`2026-11-20T08:00:${String(n + 10)}.000Z`, { unique_user_id: erased }),
  ),
  // Arrived much later than it happened.
  at('2026-11-01T00:00:00.000Z', { received_at: '2026-11-20T08:30:00.000Z' }),
]
await insert('logs', first)
// A repeat, which arrives again after the first window.
await insert('logs', [
  ...first.slice(0, 5),
  { ...first[60], received_at: '2026-11-20T13:00:00.000Z' },
])
await insert('feedback', [
  feedbackRow({
    unique_user_id: user(),
    id: uuidV7('2026-11-20T08:00:00.000Z'),
    time: '2026-11-20T08:00:00.000Z',
    received_at: '2026-11-20T08:00:00.000Z',
  }),
])
await setWatermark('2026-11-20T12:00:00.000Z')

t.test('an export killed at any write, and repeated, has the same files', async (t) => {
  const run = (target: ExportTarget) => exportTo(target, { rowsMax: 20 })
  const made = await run(createFolderTarget(folderOf('undisturbed')))
  t.ok(made.length > 4 && made.every(({ rows }) => rows <= 20), 'windows of few records')

  const name = 'killed'
  let kills = 0
  for (let done = false; !done; kills++) {
    let writes = 0
    const target = createFolderTarget(folderOf(name))
    const killed: ExportTarget = {
      ...target,
      async write(path, bytes) {
        // Dies after the third write, and before it each second time, so that it goes on at all.
        if (path !== 'lock.json' && ++writes > 1 + (kills % 2)) throw new Error('killed')
        await target.write(path, bytes)
      },
      // A killed process removes nothing.
      remove: (path) => (path === 'pending.json' ? target.remove(path) : Promise.resolve()),
    }
    // The limit grows, because a repeated window writes all of its files again.
    const patient = kills < 6 ? killed : target
    done = await run(patient).then(
      () => true,
      (error: Error) => (error.message === 'killed' ? false : Promise.reject(error)),
    )
  }
  t.ok(kills > 5)
  t.same(filesOf(name), filesOf('undisturbed'))
  const same = (one: Manifest) => ({ ...one, changes: undefined, previous: undefined })
  t.same(manifestsOf(name).map(same), manifestsOf('undisturbed').map(same))
})

t.test('what needs too much memory is exported in smaller files', async (t) => {
  const name = 'large'
  const stored = createFolderTarget(folderOf(name))
  const killedBeforeManifest: ExportTarget = {
    ...stored,
    async write(path, bytes) {
      if (path.startsWith('manifests/')) throw new Error('killed')
      await stored.write(path, bytes)
    },
  }
  const run = (rowsMax: number, target = stored) => {
    const small: Partial<typeof clickhouse> = {
      async bytes(...query) {
        const content = await clickhouse.bytes(...query)
        if (content.rows <= rowsMax) return content
        throw new ClickHouseError('no', { kind: 'split', code: 241, isTooLarge: true })
      },
    }
    return exportTo(target, { clickhouse: { ...clickhouse, ...small } })
  }
  await t.rejects(run(Infinity, killedBeforeManifest), { message: 'killed' }, 'whole files')
  await t.rejects(run(0), { code: 241 }, 'one record is too large')
  const made = await run(10)
  t.ok(made.every(({ files }) => files.every(({ rows }) => rows <= 10)))
  t.same(await readExport(reader, folderOf(name)), await visible())
  const named = made.flatMap(({ files }) => files.map(({ path }) => path))
  const written = filesOf(name).filter((file) => file.endsWith('.parquet'))
  t.same(written, named.toSorted(), 'no whole file is left')
})

t.test('each record is in one file, deletions and corrections follow', async (t) => {
  const to = ['export', '--to', `dir:${folderOf('lake')}`]
  t.match(await intake(to), {
    code: 0,
    stdout: '82 records in 2 windows, complete up to 2026-11-20T12:00:00.000Z\n',
  })
  t.match(await intake(to), { code: 0, stdout: 'Nothing to export.\n' })
  t.same(await readExport(reader, folderOf('lake')), await visible())

  await reject({ ...dead, device: {} })
  t.match(await intake(['dead-letters', 'replay', '--all']), { code: 0 })
  t.match(await intake(['user', 'erase', erased, '--yes']), { code: 0 })
  await insert('logs', [at('2026-11-20T12:00:00.000Z'), at('2026-11-20T14:00:00.000Z')])
  await setWatermark('2026-11-20T13:30:00.000Z')
  t.match(await intake(to), { stdout: /^1 record in 1 window/ })
  const last = manifestsOf('lake').at(-1)!
  t.match(last, {
    window: { from: '2026-11-20T12:00:00.000Z', until: '2026-11-20T13:30:00.000Z' },
    rows: 1,
    deletions: { rows: 30 },
    corrections: { rows: 1 },
    previous: { path: 'manifests/2.json' },
    dropped_before: { logs: null, feedback: null },
  })
  t.same(await readExport(reader, folderOf('lake')), await visible())
  t.same(await readIds(reader, folderOf('lake'), last.corrections.files), [dead.id])

  // Without a later watermark, an erasure still follows.
  const [other] = await clickhouse.query<{ user: string }>(
    'SELECT any(unique_user_id) AS user FROM intake.feedback',
  )
  t.match(await intake(['user', 'erase', other!.user, '--yes']), { code: 0 })
  t.match(await intake(to), { stdout: /^0 records in 1 window/ })
  t.same(await readExport(reader, folderOf('lake')), await visible())
  const [row] = await clickhouse.query<{ n: number }>(
    'SELECT count() AS n FROM intake.deletions WHERE deleted_at > now() - 3600',
  )
  t.ok(row!.n > 30)
})

t.test('--verify finds nothing, and then what was changed', async (t) => {
  const verify = ['export', '--to', folderOf('lake'), '--verify']
  t.match(await intake(verify), {
    code: 0,
    stdout: /^83 records in \d+ files, as in their manifests/,
  })
  rmSync(join(folderOf('large'), 'manifests/1.json'))
  const rest = await verifyExport(clickhouse, createFolderTarget(folderOf('large')))
  t.match(rest.problems, ['manifest 1 is missing', /manifest 2 does not follow/])
  const [one, two] = manifestsOf('lake').flatMap(({ files }) => files)
  writeFileSync(join(folderOf('lake'), one!.path), 'PAR1')
  rmSync(join(folderOf('lake'), two!.path))
  const manifest = join(folderOf('lake'), 'manifests/2.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"rows"', ' "rows"'))
  const found = await intake(verify)
  t.match(found, { code: 2, stdout: `${one!.path} was changed\n` })
  t.match(found.stdout, `${two!.path} is missing\n`)
  t.match(found.stdout, 'manifest 3 does not follow the one before it, which was changed')
})

t.test('many deletions are in several windows, before the records that follow', async (t) => {
  const bundle_identifier = 'com.example.many'
  const scope = { kinds: ['logs', 'feedback'], bundles: [bundle_identifier], database: 'intake' }
  const people = [user(), user(), user()]
  const rows = people.flatMap((unique_user_id) =>
    Array.from({ length: 8 }, () =>
      at('2026-11-20T13:00:00.000Z', { bundle_identifier, unique_user_id }),
    ),
  )
  await insert('logs', rows)
  const target = createFolderTarget(folderOf('many'))
  t.match(await exportTo(target, { scope }), [{ rows: 24, deletions: { rows: 0 } }])
  for (const person of people)
    t.match(await intake(['user', 'erase', person, '--yes']), { code: 0 })
  const later = at('2026-11-20T13:30:05.000Z', { bundle_identifier })
  await insert('logs', [later])
  await setWatermark('2026-11-20T13:30:10.000Z')
  const made = await exportTo(target, { scope, rowsMax: 10 })
  t.same(
    made.map(({ rows: records, deletions }) => [records, deletions.rows]),
    [
      [0, 8],
      [0, 8],
      [1, 8],
    ],
  )
  t.same(await readExport(reader, folderOf('many')), [later.id])
})

t.test('an import of any age is exported; --verify excuses that retention drops it', async (t) => {
  const application = 'com.example.imported'
  await insert('logs', [
    at('2026-10-01T00:00:00.000Z', {
      bundle_identifier: application,
      received_at: '2026-11-20T07:00:00.000Z',
    }),
  ])
  const target = ['export', '--to', folderOf('imported'), '--bundle', application]
  const period = ['retention', 'set', 'logs']
  t.match(await intake(target), { code: 0, stdout: /^1 record in 1 window/ })
  await intake([...period, '1d', '--bundle', application])
  t.match(await intake(['retention', 'apply']), { code: 0, stdout: /1 row/ })
  await intake([...period, 'general', '--bundle', application])
  t.match(await intake([...target, '--verify']), { code: 0, stdout: /^1 record in 1 file/ })
})

t.test('a reader has no record of a person whose records retention had dropped', async (t) => {
  const person = user()
  const received_at = '2026-11-20T07:00:00.000Z'
  const yesterday = new Date(Date.now() - 86_400_000).toISOString()
  const short = { bundle_identifier: 'com.example.short', received_at }
  const rows = [
    at('2026-10-01T00:00:00.000Z', { ...short, unique_user_id: person }),
    at(yesterday, { ...short, unique_user_id: person }),
    at(yesterday, short),
    // The period of one application is not that of another.
    at('2026-10-01T00:00:00.000Z', { ...short, bundle_identifier: 'com.example.long' }),
  ]
  await insert('logs', rows)
  const applications = [short.bundle_identifier, 'com.example.long']
  const target = ['export', '--to', folderOf('short'), '--bundle', ...applications]
  t.match(await intake(target), { code: 0, stdout: /^4 records/ })

  const period = ['retention', 'set', 'logs']
  await intake([...period, '30d', '--bundle', short.bundle_identifier])
  t.match(await intake(['retention', 'apply']), { code: 0, stdout: /1 row/ })
  await intake([...period, 'general', '--bundle', short.bundle_identifier])
  t.match(await intake(['user', 'erase', person, '--yes']), { code: 0 })

  t.match(await intake(target), { code: 0, stdout: /^0 records in 1 window/ })
  t.same(
    await readExport(reader, folderOf('short')),
    [rows[2]!.id, rows[3]!.id].toSorted(),
    'neither its dropped record nor its erased one',
  )
  const [dropped] = manifestsOf('short').at(-1)!.dropped
  const day = 86_400_000
  const before = new Date((Math.floor(Date.now() / day) - 30) * day).toISOString()
  t.same(dropped, { kind: 'logs', bundle_identifier: short.bundle_identifier, before })
  t.match(await intake(target), { stdout: 'Nothing to export.\n' })
  t.match(await intake([...target, '--verify']), { code: 0 })
})

t.test('an export that ends in the future is an error until then', async (t) => {
  const name = 'ahead'
  const target = createFolderTarget(folderOf(name))
  await exportTo(target)
  const last = manifestsOf(name).at(-1)!
  const future = new Date(Date.now() + 48 * 3_600_000).toISOString()
  for (const ahead of [
    { ...last, window: { ...last.window, until: future } },
    { ...last, changes: { ...last.changes, until: future, overlap: '0-0000000000000000' } },
  ]) {
    writeFileSync(join(folderOf(name), `manifests/${last.number}.json`), JSON.stringify(ahead))
    await t.rejects(exportTo(target), { message: /ends in the future .* choose an empty folder/ })
  }
})

t.test('a target that was renamed meanwhile gets no manifest', async (t) => {
  const target = createFolderTarget(folderOf('renamed'))
  const renamed: ExportTarget = {
    ...target,
    async write(path, bytes) {
      if (path.startsWith('logs/')) renameSync(folderOf('renamed'), folderOf('elsewhere'))
      await target.write(path, bytes)
    },
  }
  await t.rejects(exportTo(renamed), /or the target was renamed/)
  t.notOk(filesOf('renamed').some((file) => file.startsWith('manifests')))
})

t.test('two exports that begin at once do not both write a window', async (t) => {
  const target = createFolderTarget(folderOf('two'))
  // Both have the same process id, as in two containers.
  const results = await Promise.allSettled([exportTo(target), exportTo(target)])
  const refused = results.filter(({ status }) => status === 'rejected')
  t.match(refused, [{ reason: { message: /Another export has just begun here/ } }])
  await exportTo(target)
  t.same(await readExport(reader, folderOf('two')), await visible())
})

t.test('an interrupted export ends at once, and leaves no lock', async (t) => {
  const target = createFolderTarget(folderOf('interrupted'))
  const ending = new AbortController()
  const hanging: ExportTarget = {
    ...target,
    list: () => {
      ending.abort(new Error('interrupted'))
      return new Promise(() => {})
    },
  }
  const exporting = exportTo(hanging, { signal: ending.signal })
  await t.rejects(exporting, { message: 'interrupted' })
  t.equal(await target.read('lock.json'), undefined)
})

t.test('a signal ends an export whose statement hangs', async (t) => {
  const direct = new URL(endpoints.CLICKHOUSE_URL)
  const proxy = await startTcpProxy({ target: Number(direct.port), random: Math.random })
  t.teardown(() => proxy.close())
  const url = Object.assign(new URL(direct), { port: proxy.port })
  proxy.set({ latencyMs: 100 })
  const env = { ...endpoints, CLICKHOUSE_URL: url.href }
  const { child, exited } = startIntake(t, ['export', '--to', folderOf('hanging')], env)
  await until('it has the lock', () => existsSync(join(folderOf('hanging'), 'lock.json')))
  proxy.set({ holdRequests: true })
  await until('a statement hangs', () => proxy.requestsHeld() > 0)
  child.kill('SIGTERM')
  t.same(await exited, [1, null])
  t.notOk(existsSync(join(folderOf('hanging'), 'lock.json')))
})

t.test('an export that is interrupted before it has begun does not begin', async (t) => {
  const target = createFolderTarget(folderOf('not-begun'))
  await t.rejects(exportTo(target, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  t.same(await target.list('manifests'), [])
})

t.test('what a killed export has left goes, also that of an earlier version', async (t) => {
  const name = 'left'
  const stored = createFolderTarget(folderOf(name))
  const killed: ExportTarget = {
    ...stored,
    async write(path, bytes) {
      if (!path.startsWith('logs/')) return stored.write(path, bytes)
      await stored.write(`${path}.part`, bytes)
      throw new Error('killed')
    },
  }
  await t.rejects(exportTo(killed), { message: 'killed' })
  const plan = JSON.parse(readFileSync(join(folderOf(name), 'pending.json'), 'utf8')) as Manifest
  const day = new Date(Date.parse(plan.window.until) - 1).toISOString().slice(0, 10)
  const parts = [{ kind: 'logs', ...plan.window, until: plan.window.from }]
  await stored.write('pending.json', Buffer.from(JSON.stringify({ ...plan, parts })))
  const divided = `logs/${day}/${Date.parse(plan.window.from)}-1.parquet`
  await stored.write(divided, Buffer.from('PAR1'))
  const made = await exportTo(stored)
  const files = made.flatMap((one) => one.files.map(({ path }) => path))
  t.same(
    filesOf(name).filter((file) => /parquet/.test(file)),
    files.toSorted(),
  )
  t.same(await readExport(reader, folderOf(name)), await visible())
})

t.test('an exporter that was frozen while another one continued writes no more', async (t) => {
  const target = createFolderTarget(folderOf('frozen-exporter'))
  const written: string[] = []
  const watched: ExportTarget = {
    ...target,
    write: (path, bytes) => target.write(path, bytes).then(() => void written.push(path)),
  }
  let before: number | undefined
  const frozen: Partial<typeof clickhouse> = {
    async bytes(...query) {
      const content = await clickhouse.bytes(...query)
      if (before === undefined) {
        before = written.length
        await exportTo(target)
      }
      return content
    },
  }
  const freezing = exportTo(watched, { clickhouse: { ...clickhouse, ...frozen } })
  await t.rejects(freezing, /Another export has just begun here/)
  t.same(written.slice(before), [])
})

t.test('an old plan of an exporter that was frozen is not carried out', async (t) => {
  const name = 'frozen'
  const target = createFolderTarget(folderOf(name))
  await exportTo(target)
  const before = manifestsOf(name)
  t.ok(before.length > 1)
  const { number, scope, window, changes } = before[0]!
  const plan = { number, scope, window, changes, changesFrom: window.from }
  await target.write('pending.json', Buffer.from(JSON.stringify(plan)))
  t.same(await exportTo(target), [])
  t.same(manifestsOf(name), before)
})

t.test('an erasure is exported even if it is dated hours before the last export', async (t) => {
  const name = 'wrong-date'
  const record = at('2026-11-20T10:30:00.000Z')
  await insert('logs', [record])
  const target = createFolderTarget(folderOf(name))
  await exportTo(target)
  // The clock was ahead at the last export, and is right again.
  await clickhouse.command(
    `INSERT INTO intake.logs_raw (bundle_identifier, time, id, device_uuid, received_at, ver, is_deleted)
     SELECT bundle_identifier, time, id, device_uuid, now64(3, 'UTC') - toIntervalHour(5), ${tombstoneVer}, 1
     FROM intake.logs_raw WHERE id = {id:UUID}`,
    { id: record.id },
  )
  t.match(await exportTo(target), [{ rows: 0 }])
  t.notOk((await readExport(reader, folderOf(name))).includes(record.id))
  t.same(await exportTo(target), [])
})

t.test('a target may have as many manifests as an export of years', async (t) => {
  const target = createFolderTarget(folderOf('years'))
  const many: ExportTarget = {
    ...target,
    list: (folder) =>
      folder === 'manifests'
        ? Promise.resolve(Array.from({ length: 200_000 }, () => '1.json'))
        : target.list(folder),
  }
  t.ok((await exportTo(many)).length > 0)
})

t.test('a repeated export continues after its target was away', async (t) => {
  const folder = folderOf('away')
  const args = ['export', '--to', folder, '--every', '1s', '--kind', 'logs', '--bundle', 'none']
  const { child, exited, notes } = startIntake(t, args, endpoints)
  const manifest = (number: number) => existsSync(join(folder, `manifests/${number}.json`))
  await until('the first window is there', () => Promise.resolve(manifest(1)))
  await until('the run has ended', () => Promise.resolve(!existsSync(join(folder, 'lock.json'))))
  renameSync(folder, `${folder}-moved`)
  writeFileSync(folder, 'no folder')
  await until('it fails', () => Promise.resolve(notes.some((line) => /tried again/.test(line))))
  rmSync(folder)
  renameSync(`${folder}-moved`, folder)
  await setWatermark('2026-11-20T13:31:00.000Z')
  await until('it continues', () => Promise.resolve(manifest(2)))
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
})

t.test('an export of one application and kind into the bucket', async (t) => {
  const to = ['export', '--to', 's3:lake', '--kind', 'logs', '--bundle', 'com.example.none']
  t.match(await intake(to), { code: 0, stdout: /^0 records in/ })
  t.match(await intake([...to, '--verify']), { code: 0, stdout: /^0 records in 0 files/ })
})

t.test('wrong targets are refused', async (t) => {
  const refuse = async (t: Test, args: string[], stderr: RegExp) =>
    t.match(await intake(['export', ...args]), { code: 1, stdout: '', stderr }, args.join(' '))
  await refuse(t, ['--to', folderOf('lake'), '--kind', 'logs'], /has an export of other records/)
  await refuse(t, ['--to', folderOf('undisturbed')], /another installation/)
  await refuse(t, ['--to', 's3:'], /Give a prefix/)
  await refuse(t, ['--to', 'x', '--kind', 'events'], /Give logs, feedback/)
  await refuse(t, ['--to', 'x', '--every', '10'], /Give a period/)
  await refuse(t, ['--to', 'x', '--analyst', 'nobody'], /no analyst nobody/)
  const lock = (ms: number) => {
    const end = new Date(Date.now() + ms).toISOString()
    const held = { host: hostname(), pid: process.ppid, until: end }
    writeFileSync(join(folderOf('lake'), 'lock.json'), JSON.stringify(held))
  }
  lock(60_000)
  await refuse(t, ['--to', folderOf('lake')], /Another export writes into this target/)
  lock(-1)
  const later = await intake(['export', '--to', folderOf('lake')])
  t.match(later, { code: 0 }, 'a process has the number of an exporter that was killed')
})

t.test('a manifest still says what retention dropped when its period is taken back', async (t) => {
  await insert('logs', [at('2020-02-05T00:00:00.000Z')])
  await intake(['retention', 'set', 'logs', '2000d'])
  t.match(await intake(['retention', 'apply']), { stdout: /^logs\tmonths: 202002$/m })
  await intake(['retention', 'set', 'logs', 'never'])
  t.match(await intake(['export', '--to', folderOf('dropped')]), { code: 0 })
  const last = manifestsOf('dropped').at(-1)
  t.same(last?.dropped_before, { logs: '2020-03-01T00:00:00.000Z', feedback: null })
})
