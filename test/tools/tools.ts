// Drivers of others ask as an analyst, with nothing but host, port, user and password of `npm start`.
// Each program prints what it got; here it is compared with what is right.
import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createUuidV7 } from '@intake/contract'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import t from 'tap'
import { tools } from './install.ts'
import { bigInteger, judge, noonMs, type Line } from './judge.ts'

const run = promisify(execFile)
const script = (name: string) =>
  fileURLToPath(new URL(`../../tools/scripts/${name}`, import.meta.url))
const dataDir = createDataDir(t)
const { lines, endpoints, clickhouse } = await startStack(t, { dataDir })
const users = join(dataDir, 'clickhouse/config/users.d')
mkdirSync(users, { recursive: true, mode: 0o700 })
writeFileSync(
  join(users, 'dbt.xml'),
  readFileSync(new URL('../../deploy/clickhouse/dbt.xml', import.meta.url), 'utf8').replace(
    'PASSWORD_SHA256',
    createHash('sha256').update('dbt').digest('hex'),
  ),
)
// The engine reads its users when it starts, and npm start starts it again.
process.kill(endpoints.pids.clickhouse ?? 0, 'SIGKILL')
await until('ClickHouse knows the user of dbt', async () => {
  const sql = "SELECT 1 FROM system.users WHERE name = 'intake_dbt'"
  return (await clickhouse.query(sql).catch(() => [])).length === 1
})

const [, host = '', port = '', user = '', password = ''] =
  lines
    .map((line) => /ClickHouse +http:\/\/([^:]+):(\d+) \(user (\w+), password (\w+)\)/.exec(line))
    .find((match) => match !== null) ?? []

await fill()
const views = await clickhouse.query<{ name: string }>(
  `SELECT name FROM system.tables
   WHERE database = 'intake' AND engine = 'View' AND name NOT IN ('recounts', 'counted_names') ORDER BY name`,
)

/** Sends values of every kind, also those that one client sends beside those of another. */
async function fill() {
  const mixed = (n: number) => ({
    amount: n % 3 === 0 ? n + 0.5 : n,
    items: [{ qty: n, sku: `A${n}` }],
    meta: { nested: { deep: [[1, 2], [3]] }, ü: '🦄' },
    mixed: n % 2 === 0 ? [1, 'a', true] : [1.5, null],
    flags: [true, false],
    contact: 'someone@example.com',
    'http.status': 200,
    [`only_here_${n}`]: `${n}`,
  })
  const names = Array.from({ length: 1_500 }, (_, n) => [`key_${n}`, n % 2 === 0 ? n : 'text'])
  const events = [
    ...Array.from({ length: 200 }, (_, n) => ({
      event: `e${n % 5}`,
      params: mixed(n),
      foo: { n },
      sequence: n + 1,
    })),
    { event: "it's", params: {} },
    { event: 'crash', params: { reason: 'NullPointerException', stack: 'at A\nat B' } },
    { event: 'noon', params: {}, id: createUuidV7(noonMs) },
    ...[0, 1, 2, 3].map((part) => ({
      event: 'many',
      params: Object.fromEntries(names.map(([name, value]) => [`${name}_${part}`, value])),
    })),
  ]
  const context = {
    bundle_identifier: 'com.example.shop',
    device_uuid: randomUUID(),
    unique_user_id: 'user-1',
    device: { os: 'Android', carrier: 'T-Mobile 🦄', ram_bytes: 2 ** 33, rooted: false },
  }
  const logs = events.map((event) => ({ id: createUuidV7(Date.now()), ...event }))
  const big = `{"id":"${createUuidV7(Date.now())}","event":"big","params":{"big":${bigInteger}}}`
  const body = JSON.stringify({ ...context, logs }).replace('"logs":[', `"logs":[${big},`)
  const form = new FormData()
  form.set('payload', JSON.stringify({ ...context, feedback: { text: 'Good', rating: [1, 'a'] } }))
  await post('log/batch', body, { 'content-type': 'application/json' })
  await post('feedback', form)
  await until('all are visible', async () => {
    const [row] = await clickhouse.query<{ n: number }>(
      'SELECT (SELECT count() FROM intake.logs) + (SELECT count() FROM intake.feedback) AS n',
    )
    return row?.n === logs.length + 2
  })
  await clickhouse.command(
    `INSERT INTO intake.logs_raw (bundle_identifier, id, time, device_uuid, received_at, ver, is_deleted)
     SELECT 'com.example.shop', generateUUIDv7() AS id, UUIDv7ToDateTime(id, 'UTC'), generateUUIDv4(), now64(3), 18446744073709551615, 1`,
  )
  const env = { ...process.env, INTAKE_DATA_DIR: dataDir }
  const alert = ['alerts', 'add', '--bundle', 'com.example.shop', '--event', 'e1', '--above', '1']
  for (const args of [alert, ['catalogue', 'refresh']]) {
    await run(process.execPath, [script('intake.mjs'), ...args], { env })
  }
  await until('the alert is evaluated', async () => {
    return (await clickhouse.query('SELECT 1 FROM intake.alert_states')).length === 1
  })
}

async function post(path: string, body: string | FormData, headers: Record<string, string> = {}) {
  const response = await fetch(`${endpoints.gateway}/api/${path}`, {
    method: 'POST',
    body,
    headers: { ...headers, 'x-api-key': endpoints.apiKey },
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  if (!response.ok || !/"rejected":0|"stored"|successfully/.test(text)) throw new Error(text)
}

const wanted = (process.env['TOOLS'] ?? '').split(',').filter((id) => id !== '')
for (const [id, { name, install }] of Object.entries(tools)) {
  if (wanted.length > 0 && !wanted.includes(id)) continue
  t.test(name, async (t) => {
    const installed = await install().catch((error: unknown) => String(error).slice(0, 300))
    if (typeof installed === 'string') return t.pass(name, { skip: installed })
    const [program, ...args] = installed
    const list = views.map((view) => view.name).join(',')
    const { stdout } = await run(program, [...args, host, port, user, password, list], {
      timeout: 15 * 60_000,
      maxBuffer: 256 * 1024 ** 2,
      env: { ...process.env, TZ: 'Europe/Berlin' },
    })
    const [first, ...checks] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    t.comment(`${name}: ${first?.versions?.join(', ')}`)
    t.ok(checks.length > 0, 'it ran')
    for (const one of checks) judge(t, one)
  })
}
