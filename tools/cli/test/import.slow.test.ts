import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createPolicyStore } from '@intake/access'
import { pause } from '@intake/runtime'
import { createAppProcess } from '@intake/test-kit/app-process'
import { until } from '@intake/test-kit/until'
import { createIntakeProcess, main, startServices } from './services.ts'

const { clickhouse, dataDir, endpoints, intake, journal, keys, number, server } =
  await startServices(t)
const worker = createAppProcess({
  name: 'worker',
  args: [fileURLToPath(new URL('../../../worker/dist/main.js', import.meta.url))],
  env: { ...endpoints, CLICKHOUSE_URL: server.workerUrl, WORKER_ADMIN_PORT: '0' },
  logFile: join(dataDir, 'worker.log'),
})
await worker.start()
t.teardown(() => worker.terminate())

const policy = createPolicyStore({ redis: keys })
const bundle = 'com.example.app'
const eventsMax = 5_000
const write = (name: string, text: string | Buffer) => {
  const path = join(dataDir, name)
  writeFileSync(path, text)
  return path
}
const ndjson = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const isEmpty = async () => {
  const list = (name: string) => `{intake}:logs:${name}`
  const queued = (await keys.llen(list('wait'))) + (await keys.llen(list('active')))
  return queued + (await keys.zcard(list('delayed'))) === 0
}
const stored = () => until('workers have stored it', isEmpty)
/** The time of an event: they are spread over 14 months. */
const timeOf = (n: number) => new Date(Date.now() - (n % 420) * 86_400_000 - n).toISOString()
const countOf = (application: string, where = '') =>
  number(`count() AS n FROM intake.logs WHERE bundle_identifier = '${application}' ${where}`)
const facts = (application: string) =>
  clickhouse.query(
    `SELECT event, toYYYYMM(time) AS month, count() AS n, uniqExact(id) AS ids, uniqExact(device_uuid) AS devices,
       groupBitXor(cityHash64(id, toString(params))) AS content
     FROM intake.logs WHERE bundle_identifier = '${application}' GROUP BY event, month ORDER BY event, month`,
  )

const posthog = Array.from({ length: eventsMax }, (_, n) => {
  const properties = {
    $os: 'iOS',
    $app_version: `1.${n % 3}`,
    price: n / 4,
    big: 1,
    $set: { a: [n] },
  }
  return {
    uuid: randomUUID(),
    event: n % 5 === 0 ? '$pageview' : `event ${n % 7}`,
    distinct_id: `user-${n % 50}`,
    timestamp: n % 2 === 0 ? timeOf(n) : timeOf(n).replace('T', ' ').replace('Z', '000'),
    properties: n % 3 === 0 ? JSON.stringify(properties) : properties,
  }
})
const segment = Array.from({ length: eventsMax }, (_, n) => ({
  messageId: `ajs-${n}-${randomUUID()}`,
  type: ['track', 'track', 'screen', 'page'][n % 4],
  ...(n % 4 < 2 ? { event: `event ${n % 7}` } : { name: 'Home' }),
  anonymousId: n % 3 === 0 ? randomUUID() : `anonymous-${n % 50}`,
  userId: n % 2 === 0 ? `user-${n % 50}` : null,
  timestamp: timeOf(n),
  properties: { price: n / 4 },
  context: { app: { version: '2.1' }, os: { name: 'Android' }, device: { model: 'Pixel' } },
}))

// The first test: before the others, there are no other records that its purge must count.
t.test('a purged import is hidden if it is repeated, and not as another attempt', async (t) => {
  const application = 'com.example.purged'
  // A purge counts every day again of which there is a record, so these are of few days.
  const rows = posthog.filter((_, n) => n % 420 < 2)
  const file = write('purged.ndjson', ndjson(rows))
  const args = ['import', file, '--map', 'posthog', '--bundle', application]
  const from = new Date().toISOString()
  t.match(await intake(args), { code: 0 })
  await stored()
  const to = new Date(Date.now() + 1_000).toISOString()
  const purge = ['purge', '--api-key', 'import', '--from', from, '--to', to, '--yes']
  const purged = await intake([...purge, '--wait', '0.01'])
  t.match(purged.code, /^[02]$/, purged.stderr)
  t.equal(await countOf(application), 0)
  t.match(await intake(args), { code: 0, stdout: new RegExp(`^${rows.length} records imported`) })
  await stored()
  t.equal(await countOf(application), 0, 'tombstones hide the same ids')
  for (const time of ['first', 'second']) {
    t.match(await intake([...args, '--attempt', '2']), { code: 0 })
    await stored()
    t.equal(await countOf(application), rows.length, time)
  }
})

t.test('records are imported when as many replicas have them as gateways wait for', async (t) => {
  const file = write('replicas.ndjson', ndjson(posthog.slice(0, 3)))
  const args = ['import', file, '--map', 'posthog', '--bundle', 'com.example.replicas']
  const { code, stdout, stderr } = await intake(args, { REDIS_ACK_REPLICAS: '1' })
  t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: /The queue did not respond/ })
})

for (const [map, rows] of [
  ['posthog', posthog],
  ['segment', segment],
] as const) {
  t.test(`an export of ${map} is imported twice, and counted once`, async (t) => {
    const application = `com.example.${map}`
    const file = write(`${map}.ndjson.gz`, gzipSync(ndjson([...rows])))
    const args = ['import', file, '--map', map, '--bundle', application]
    const first = await intake([...args, '--rate', '100000'])
    t.match(first, { code: 0, stdout: `${eventsMax} records imported, 0 rejected` }, first.stderr)
    await stored()
    const once = await facts(application)
    t.equal(await countOf(application), eventsMax)
    t.ok(once.length > 28, 'it is in many months')
    await intake([...args, '--rate', '100000'])
    await stored()
    t.same(await facts(application), once)
    t.equal(await countOf(application, 'AND device.version_name IS NULL'), 0)
  })
}

t.test('killed at any moment and repeated, it has every event once', async (t) => {
  const application = 'com.example.killed'
  const file = write('killed.ndjson', ndjson(posthog))
  const args = ['import', file, '--map', 'posthog', '--bundle', application]
  const command = createAppProcess({
    name: 'import',
    args: [main, ...args, '--rate', '2000'],
    env: { ...endpoints },
    logFile: join(dataDir, 'import.log'),
    up: /never/,
  })
  const started = command.start().catch(() => undefined)
  await until('some are stored', async () => (await countOf(application)) > 500)
  await command.kill()
  await started
  t.ok((await countOf(application)) < eventsMax, 'it was killed in the middle')
  const intakeProcess = createIntakeProcess({ cwd: dataDir, env: endpoints })
  const again = await intakeProcess([...args, '--rate', '100000'])
  t.match(again, {
    code: 0,
    stdout: `${eventsMax} records imported, 0 rejected, 0 left out by rules\n`,
  })
  await stored()
  t.equal(await countOf(application), eventsMax)
})

t.test('while workers postpone what waits, nothing more is added', async (t) => {
  const ids = Array.from({ length: 100 }, () => randomUUID())
  const inAnHour = (Date.now() + 3_600_000) * 0x1000
  await keys.zadd('{intake}:logs:delayed', ...ids.flatMap((id) => [inAnHour, id]))
  const file = write('postponed.ndjson', ndjson(posthog.slice(0, 3)))
  const running = intake(['import', file, '--map', 'posthog', '--bundle', 'com.example.postponed'])
  t.equal(await Promise.race([running, pause(5_000)]), undefined)
  await keys.zrem('{intake}:logs:delayed', ...ids)
  t.match(await running, { code: 0, stderr: /^waiting for workers/ })
})

t.test('rejected lines have reasons, and the rest is imported', async (t) => {
  await policy.noteDropped('logs', new Date(timeOf(300)), bundle)
  await policy.suppress({ kind: 'user', id: 'erased' })
  await intake(['rules', 'add', 'drop', '--bundle', bundle, '--event', 'noise'])
  const good = (fields: object = {}) => ({ ...posthog[1], uuid: randomUUID(), ...fields })
  const big = JSON.stringify(good()).replace('"big":1', '"big":9007199254740993')
  const lines = [
    ...Array.from({ length: 100 }, () => JSON.stringify(good())),
    big,
    '{"uuid": ',
    JSON.stringify(good({ timestamp: '2019-01-01T00:00:00Z' })),
    JSON.stringify(good({ timestamp: '2199-01-01T00:00:00Z' })),
    JSON.stringify(good({ timestamp: timeOf(301) })),
    JSON.stringify(good({ timestamp: 'yesterday' })),
    JSON.stringify(good({ event: undefined })),
    JSON.stringify(good({ event: 'x'.repeat(300) })),
    JSON.stringify(good({ distinct_id: 'erased' })),
    JSON.stringify(good({ event: 'noise' })),
  ]
  const file = write('mixed.ndjson', `${lines.join('\n')}\n\n`)
  // An archive with the file may have had a link beside it.
  symlinkSync(write('profile', 'untouched'), `${file}.rejected.ndjson`)
  const result = await intake(['import', file, '--map', 'posthog', '--bundle', bundle])
  t.match(result, { code: 2, stdout: /^101 records imported, 8 rejected, 1 left out by rules$/m })
  t.equal(readFileSync(join(dataDir, 'profile'), 'utf8'), 'untouched')
  const rejected = readFileSync(`${file}.rejected.ndjson`, 'utf8').trim().split('\n')
  t.match(
    rejected.map((line) => JSON.parse(line) as unknown),
    [
      { line: 102, reason: /^invalid_json/, source: '{"uuid":' },
      { line: 103, reason: 'its time is before 2020' },
      { line: 104, reason: 'its time is in the future' },
      { line: 105, reason: /^retention drops records of its time/ },
      { line: 106, reason: /its time is not ISO 8601/ },
      { line: 107, reason: 'it has no event' },
      { line: 108, reason: /^invalid_request: .*\/log\/event/ },
      { line: 109, reason: 'its user or device is suppressed' },
    ],
  )
  await stored()
  t.equal(await countOf(bundle), 101)
  t.equal(
    await countOf(bundle, 'AND params.big::Int64 = 9007199254740993'),
    1,
    'integers keep their digits',
  )
})

t.test('a CSV file is read by its map', async (t) => {
  const map = write(
    'map.json',
    JSON.stringify({
      event: '=order',
      time: 'at',
      id: 'number',
      user: 'customer',
      params: { total: 'total:number', note: 'note' },
      device_fields: { version_name: 'version' },
    }),
  )
  const file = write(
    'orders.csv',
    'number,at,customer,total,note,version\r\n' +
      '1,2026-11-01 10:00:00,ann,9.5,"a ""quoted"", and\r\nbroken note",1.0\r\n' +
      '2,1793527200,bob,,,1.0\r\n3,2026-11-01,bob,much,,1.0\r\n',
  )
  const args = ['import', file, '--map', `csv:${map}`, '--bundle', 'com.example.csv']
  t.match(await intake(args), { code: 2, stdout: /^2 records imported, 1 rejected/ })
  await stored()
  t.same(
    await clickhouse.query(
      `SELECT event, toString(time) AS time, unique_user_id, toJSONString(params) AS params
       FROM intake.logs WHERE bundle_identifier = 'com.example.csv' ORDER BY unique_user_id`,
    ),
    [
      {
        event: 'order',
        time: '2026-11-01 10:00:00.000',
        unique_user_id: 'ann',
        params: '{"note":"a \\"quoted\\", and\\r\\nbroken note","total":9.5}',
      },
      { event: 'order', time: '2026-11-01 10:00:00.000', unique_user_id: 'bob', params: '{}' },
    ],
  )
  t.match(readFileSync(`${file}.rejected.ndjson`, 'utf8'), 'total is no number')
  for (const [wrong, stderr] of [
    ['{', /is no JSON/],
    ['{"event":"a","user":"b"}', /map\.json: .*required.*time/],
    ['{"event":"a","time":"b","user":"c","what":"d"}', /map\.json: \/what is not known/],
    ['{"event":"a","time":"b","user":"c","device_fields":{"what":"d"}}', /no device field what/],
  ] as const) {
    write('map.json', wrong)
    t.match(await intake(args), { code: 1, stderr })
  }
})

t.test('a map that does not fit stops the import', async (t) => {
  const file = write('segment.ndjson', ndjson(segment))
  const result = await intake(['import', file, '--map', 'posthog', '--bundle', 'com.example.wrong'])
  t.match(result, { code: 1, stderr: /All of the first lines are rejected/ })
  t.equal(await countOf('com.example.wrong'), 0)
  t.match(await intake(['import', file, '--map', 'mixpanel', '--bundle', bundle]), { code: 1 })
  t.match(await intake(['import', 'absent', '--map', 'segment', '--bundle', bundle]), {
    code: 1,
    stderr: /absent/,
  })
  t.notOk(existsSync('absent.rejected.ndjson'))
  const waiting = JSON.stringify(await journal())
  const entries = `${(await intake(['journal', '--json'])).stdout}${waiting}`
  t.match(entries, /records-imported.*com\.example\.posthog/s)
  t.notMatch(entries, 'com.example.wrong', 'the journal has only what was imported')
})
