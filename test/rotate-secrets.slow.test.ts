import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startClickHouse, startRedis, startS3 } from '@intake/local'
import { startApp } from '@intake/test-kit/app'
import type { AppProcess } from '@intake/test-kit/app-process'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openRedis } from '@intake/test-kit/open-redis'
import { postFeedback, postLog } from '@intake/test-kit/post'
import { until } from '@intake/test-kit/until'

const dataDir = createDataDir(t)
const apiKey = 'rotation-test-api-key'
const keys = { accessKey: 'first', secretKey: 'first-secret-key' }
const otherKeys = { accessKey: 'second', secretKey: 'second/secret+key' }
const s3Options = { dataDir: join(dataDir, 's3'), ...keys }

const redisServer = await startRedis({ dataDir: join(dataDir, 'redis'), port: 0 })
t.teardown(() => redisServer.stop())
const clickhouseServer = await startClickHouse({
  dataDir: join(dataDir, 'clickhouse'),
  port: 0,
  logQueries: true,
})
t.teardown(() => clickhouseServer.stop())
let s3Server = await startS3({ ...s3Options, otherKeys, port: 0 })
t.teardown(() => s3Server.stop())
const redis = openRedis(t, redisServer)
const clickhouse = openClickHouse(t, { url: clickhouseServer.url })

/**
 * A directory like that of a mounted Kubernetes secret: `..data` is a link to the folder with the
 * current files. A change of a secret writes a new folder and replaces the link.
 */
const secretsDir = join(dataDir, 'secrets')
const values: Record<string, string> = {}
let version = 0
function writeSecrets(changed: Record<string, string>): void {
  Object.assign(values, changed)
  const folder = `v${++version}`
  mkdirSync(join(secretsDir, folder), { recursive: true })
  for (const [name, value] of Object.entries(values))
    writeFileSync(join(secretsDir, folder, name), `${value}\n`)
  symlinkSync(folder, join(secretsDir, '..next'))
  renameSync(join(secretsDir, '..next'), join(secretsDir, '..data'))
}
const fileOf = (name: string) => join(secretsDir, '..data', name)

const redisUrl = (user: string, password: string) =>
  `redis://${user}:${password}@127.0.0.1:${redisServer.port}`
const s3Url = ({ accessKey, secretKey }: typeof keys) =>
  `http://${accessKey}:${encodeURIComponent(secretKey)}@127.0.0.1:${s3Server.port}`
const allowed = ['on', '~*', '&*', '+@all'] as const

await redis.acl('SETUSER', 'app', '>one', ...allowed)
writeSecrets({
  'redis-url': redisUrl('app', 'one'),
  's3-endpoint': s3Url(keys),
  'clickhouse-url': clickhouseServer.workerUrl,
  'owner-url': clickhouseServer.url,
  'api-key': apiKey,
})

const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const [port = 0] = await freePorts(1)
const shared = {
  REDIS_URL: '',
  REDIS_URL_FILE: fileOf('redis-url'),
  S3_ENDPOINT_FILE: fileOf('s3-endpoint'),
}
await promisify(execFile)(process.execPath, [pathOf('tools/cli/dist/main.js'), 'setup'], {
  env: {
    ...process.env,
    ...shared,
    CLICKHOUSE_URL_FILE: fileOf('owner-url'),
    INTAKE_API_KEY_FILE: fileOf('api-key'),
  },
})

const start = (name: 'gateway' | 'worker' | 'console', env: Record<string, string>) =>
  startApp(t, name, { dataDir, env: { ...shared, ...env } })
const gateway = await start('gateway', { PORT: String(port) })
const worker = await start('worker', { CLICKHOUSE_URL_FILE: fileOf('clickhouse-url') })
const page = await start('console', { CLICKHOUSE_URL_FILE: fileOf('clickhouse-url') })
const apps = [gateway, worker, page]

const images = [readFileSync(pathOf('tools/local/examples/screenshot.png'))]
const target = { url: `http://127.0.0.1:${port}`, apiKey }
const sendLog = () => postLog(target, { event: 'opened' })
const sendFeedback = () => postFeedback(target, { text: 'Good' }, { images })

/** Sends logs and feedback without a pause, until `stop` is called. */
function startLoad() {
  const sent = { logs: 0, feedback: 0 }
  const failures: string[] = []
  const over = new AbortController()
  async function run(kind: keyof typeof sent, send: () => Promise<Response>): Promise<void> {
    while (!over.signal.aborted) {
      const response = await send().catch((error: unknown) => new Response(String(error)))
      const text = await response.text()
      if (response.status === 201) sent[kind]++
      else failures.push(`${response.status} ${text}`)
    }
  }
  const runs = [run('logs', sendLog), run('logs', sendLog), run('feedback', sendFeedback)]
  return {
    sent,
    failures,
    async stop() {
      over.abort()
      await Promise.all(runs)
    },
  }
}

const isUsed = (app: AppProcess, setting: string, times: number) =>
  app.log.filter((line) => line['setting'] === setting && /new value is used/.test(line.msg ?? ''))
    .length === times
const usersOfRedis = async () =>
  Array.from(String(await redis.client('LIST')).matchAll(/ user=(\S+)/g), ([, user]) => user)

t.test('all secrets change under load, the old ones end, and no request fails', async (t) => {
  const load = startLoad()
  const more = async (what: string) => {
    const { logs, feedback } = load.sent
    await until(
      `requests follow: ${what}`,
      () => load.sent.logs > logs && load.sent.feedback > feedback,
    )
  }
  await more('start')

  // Redis gets a second password, then another user.
  await redis.acl('SETUSER', 'app', '>two')
  writeSecrets({ 'redis-url': redisUrl('app', 'two') })
  await until('both have the new password', () => apps.every((app) => isUsed(app, 'REDIS_URL', 1)))
  await redis.acl('SETUSER', 'app', '<one')
  await more('one password')
  await redis.acl('SETUSER', 'app2', '>three', ...allowed)
  writeSecrets({ 'redis-url': redisUrl('app2', 'three') })
  await until('no connection has the old user', async () => !(await usersOfRedis()).includes('app'))
  t.ok((await usersOfRedis()).filter((user) => user === 'app2').length >= 2)
  await redis.acl('DELUSER', 'app')
  await more('another user')

  // The users of the embedded ClickHouse cannot be changed, so the worker gets another existing
  // user.
  const switched = new Date().toISOString().slice(0, 19).replace('T', ' ')
  writeSecrets({ 'clickhouse-url': clickhouseServer.url })
  await until('it is used', () => isUsed(worker, 'CLICKHOUSE_URL', 1))
  await until('the new user inserts', async () => {
    await clickhouse.command('SYSTEM FLUSH LOGS')
    const [seen] = await clickhouse.query<{ n: number }>(
      `SELECT count() AS n FROM system.query_log WHERE user = 'intake' AND query_kind = 'Insert'
         AND event_time >= {switched:DateTime('UTC')} AND query LIKE 'INSERT INTO intake.%'`,
      { switched },
    )
    return seen!.n > 0
  })

  writeSecrets({ 's3-endpoint': s3Url(otherKeys) })
  await until('they are used', () => [gateway, page].every((app) => isUsed(app, 'S3_ENDPOINT', 1)))
  await more('other keys')

  await load.stop()
  t.same(load.failures, [])
  t.comment(`${load.sent.logs} logs and ${load.sent.feedback} feedback, no failure`)
  for (const kind of ['logs', 'feedback'] as const) {
    await until(`all ${kind} are visible`, async () => {
      const [seen] = await clickhouse.query<{ n: number }>(
        `SELECT count() AS n FROM intake.${kind}`,
      )
      return seen!.n === load.sent[kind]
    })
  }

  // From here on the first pair of keys is invalid.
  await s3Server.stop()
  s3Server = await startS3({ ...s3Options, ...otherKeys, port: s3Server.port })
  t.equal((await sendFeedback()).status, 201)
  const log = [...gateway.log, ...worker.log].map((line) => JSON.stringify(line)).join('\n')
  for (const secret of ['one', 'two', 'three', ...Object.values(otherKeys), keys.secretKey])
    t.notMatch(log, `:${secret}@`)
})
