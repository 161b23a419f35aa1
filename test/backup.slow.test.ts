import { createHash, randomUUID } from 'node:crypto'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApiKeyStore } from '@intake/access'
import { startClickHouse, startRedis, startS3 } from '@intake/local'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { enqueueLogs } from '@intake/test-kit/enqueue'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openRedis } from '@intake/test-kit/open-redis'
import { openStore } from '@intake/test-kit/open-store'
import { until } from '@intake/test-kit/until'
import { setUp } from '@intake/schema/setup'
import { logRow, member } from '../packages/schema/test/fixture.ts'

const bucket = { bucket: 'intake', region: 'us-east-1' }

/** Starts the services on a data directory, which may contain restored data. */
async function startServices(t: Test, dataDir: string) {
  const [redis, server, s3] = await Promise.all([
    startRedis({ dataDir: join(dataDir, 'redis'), port: 0 }),
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0 }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
  ])
  t.teardown(() => Promise.all([redis, server, s3].map((service) => service.stop())))
  const keys = openRedis(t, redis)
  const clickhouse = openClickHouse(t, { url: server.url })
  const objects = openStore(t, s3.url)
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

t.test('a backup of a running stack, restored into a new one, has every record once', async (t) => {
  const old = await startServices(t, createDataDir(t))
  await old.prepare()
  const rowOf = (event: string) => logRow({ event })
  const insert = (rows: object[]) =>
    old.clickhouse.insertRows({ table: 'logs', members: [member(rows)], rows: rows.length })
  await insert([rowOf('stored'), rowOf('stored')])
  const waiting = [rowOf('waiting'), rowOf('waiting')]
  await enqueueLogs(old.keys, [waiting.map((row) => JSON.stringify(row))])
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
  await insert([rowOf('too late')])
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

  await startApp(t, 'worker', {
    dataDir: next,
    env: { REDIS_URL: fresh.redis.url, CLICKHOUSE_URL: fresh.server.url },
  })
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
