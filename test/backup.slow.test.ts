import { createHash, randomUUID } from 'node:crypto'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { compress } from '@intake/queue/frame'
import t, { type Test } from 'tap'
import { createApiKeyStore } from '@intake/access'
import { createClickHouse } from '@intake/clickhouse'
import { startClickHouse, startRedis, startS3 } from '@intake/local'
import { createObjectStore } from '@intake/object-store'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { connectRedis } from '@intake/redis'
import { createAppProcess } from '@intake/test-kit/app-process'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import { setUp } from '@intake/schema/setup'

const bucket = { bucket: 'intake', region: 'us-east-1' }
const worker = fileURLToPath(new URL('../worker/dist/main.js', import.meta.url))

/** Starts the services on a data directory, which may contain restored data. */
async function startServices(t: Test, dataDir: string) {
  const [redis, server, s3] = await Promise.all([
    startRedis({ dataDir: join(dataDir, 'redis'), port: 0 }),
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0 }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
  ])
  t.teardown(() => Promise.all([redis, server, s3].map((service) => service.stop())))
  const keys = connectRedis({ url: redis.url, role: 'consumer', onError: () => {} })
  t.teardown(() => keys.disconnect())
  const clickhouse = createClickHouse({ url: server.url })
  t.teardown(() => clickhouse.close())
  const objects = createObjectStore({ endpoint: s3.url, ...bucket, timeoutMs: 20_000 })
  t.teardown(() => objects.close())
  const prepare = () =>
    setUp({
      redisUrl: redis.url,
      clickhouseUrl: server.url,
      s3: { endpoint: s3.url, ...bucket },
      apiKey: { name: 'first', secret: 'a-secret-of-some-length' },
      acceptEmptyRedis: false,
    })
  return { dataDir, redis, server, s3, keys, clickhouse, objects, prepare }
}

function logRow(event: string) {
  const now = Date.now()
  const hex = now.toString(16).padStart(12, '0')
  const at = new Date(now).toISOString()
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`,
    time: at,
    received_at: at,
    request_id: randomUUID(),
    bundle_identifier: 'com.example.app',
    device_uuid: randomUUID(),
    unique_user_id: 'user-1',
    api_key_id: 'key-1',
    device: {},
    device_extra: {},
    event,
    params: {},
  }
}

const ndjson = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

t.test('a backup of a running stack, restored into a new one, has every record once', async (t) => {
  const old = await startServices(t, createDataDir(t))
  await old.prepare()
  const insert = (rows: object[]) =>
    old.clickhouse.insertRows({
      table: 'logs',
      members: [gzipSync(ndjson(rows))],
      rows: rows.length,
    })
  await insert([logRow('stored'), logRow('stored')])
  const sink = createJobSink({ redis: old.keys, kind: 'logs' })
  t.teardown(() => sink.close())
  const producer = createFrameProducer({ sink })
  const waiting = [logRow('waiting'), logRow('waiting')]
  const compressed = compress(ndjson(waiting))
  const frame = { rows: 2, jsonBytes: 100, ...compressed, receivedAtMs: Date.now() }
  await producer.add(frame, performance.now() + 60_000)
  const body = Buffer.from('a picture')
  const sha256 = createHash('sha256').update(body).digest('hex')
  const key = `feedback/2026/11/21/${randomUUID()}/1-${sha256}.png`
  await old.objects.put({ key, body, contentType: 'image/png', sha256 })

  // Follows docs/operations/backup.md, step by step.
  const next = createDataDir(t)
  await old.keys.config('SET', 'auto-aof-rewrite-percentage', 0)
  await until('no rewrite is running', async () => {
    return (await old.keys.info('persistence')).includes('aof_rewrite_in_progress:0')
  })
  const redisData = 'redis/data'
  mkdirSync(join(next, redisData), { recursive: true })
  const log = join(redisData, 'appendonlydir')
  cpSync(join(old.dataDir, log), join(next, log), { recursive: true })
  await old.keys.config('SET', 'auto-aof-rewrite-percentage', 100)
  // Stores in ClickHouse a row of a frame that is also in the copy of Redis. That can happen in
  // operation: Redis is copied before ClickHouse, and meanwhile a worker may store a copied frame.
  await insert(waiting.slice(0, 1))
  await old.clickhouse.query("BACKUP DATABASE intake TO File('monday')")
  await insert([logRow('too late')])
  cpSync(join(old.dataDir, 's3/buckets'), join(next, 's3/buckets'), { recursive: true })

  const backup = 'clickhouse/data/backups/monday'
  cpSync(join(old.dataDir, backup), join(next, backup), { recursive: true })
  const fresh = await startServices(t, next)
  await fresh.clickhouse.query("RESTORE DATABASE intake FROM File('monday')")
  t.same((await fresh.prepare()).applied, [], 'Redis and ClickHouse belong together')
  t.equal((await createApiKeyStore({ redis: fresh.keys }).list()).length, 1)
  t.same(await fresh.objects.get(key), body)
  const [row] = await fresh.clickhouse.query("SELECT intake_number('1.5') AS n")
  t.same(row, { n: 1.5 }, 'the functions for analysts are back')

  const app = createAppProcess({
    name: 'worker',
    args: [worker],
    env: { WORKER_ADMIN_PORT: '0', REDIS_URL: fresh.redis.url, CLICKHOUSE_URL: fresh.server.url },
    logFile: join(next, 'worker.log'),
  })
  t.teardown(() => app.kill())
  await app.start()
  const count = async (table: string) => {
    const sql = `SELECT event, count() AS n FROM intake.${table} GROUP BY event ORDER BY event`
    return fresh.clickhouse.query<{ event: string; n: number }>(sql)
  }
  await until('the worker has stored the frame', async () => {
    return (await count('logs_raw')).some(({ event, n }) => event === 'waiting' && n >= 2)
  })
  t.same(await count('logs'), [
    { event: 'stored', n: 2 },
    { event: 'waiting', n: 2 },
  ])
})
