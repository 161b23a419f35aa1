import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { limits } from '@intake/contract'
import { startClickHouse, startRedis } from '@intake/local'
import { startApp } from '@intake/test-kit/app'
import { cleanUpPartsSoon } from '@intake/test-kit/clean-up-parts'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openStore } from '@intake/test-kit/open-store'
import { postFeedback } from '@intake/test-kit/post'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { until } from '@intake/test-kit/until'
import { createIntake } from '../../tools/cli/test/in-process.ts'
import type { ManagedService } from '../faults/kit/service.ts'
import { freeze, keysOf } from './store.ts'

const apiKey = 'a-key-of-sixteen-characters'
const prefix = 'whole/path'
const images = ['photo.jpg', 'screenshot.png', 'crash.webp', 'steps.gif'].map((name) =>
  readFileSync(new URL(`../images/${name}`, import.meta.url)),
)

/** Starts Redis and ClickHouse for the tests of all S3 servers. Returns their URLs as settings. */
export async function startDatabases(t: Test): Promise<Record<string, string>> {
  const dataDir = createDataDir(t)
  const [redis, clickhouse] = await Promise.all([
    startRedis({ dataDir: join(dataDir, 'redis'), port: 0 }),
    // With its usual low priority, it would hardly run on a busy machine.
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0, niceness: 0 }),
  ])
  t.teardown(() => Promise.all([redis.stop(), clickhouse.stop()]))
  return { REDIS_URL: redis.url, CLICKHOUSE_URL: clickhouse.url }
}

/**
 * Tests feedback with real images through real processes: gateway, worker with the page, and
 * commands.
 */
export async function testWholePath(
  t: Test,
  server: ManagedService,
  databases: Record<string, string>,
): Promise<void> {
  const dataDir = createDataDir(t)
  const env = { ...databases, S3_ENDPOINT: server.url(), S3_PREFIX: prefix }
  const intake = createIntake({ cwd: dataDir, env })
  const store = openStore(t, server.url(), { prefix })

  await t.test('setup creates the bucket, and doctor finds nothing wrong with it', async (t) => {
    const { code, stderr } = await intake(['setup'], { INTAKE_API_KEY: apiKey })
    t.equal(code, 0, stderr)
    const clickhouse = openClickHouse(t, { url: databases['CLICKHOUSE_URL'] ?? '' })
    for (const statement of cleanUpPartsSoon) await clickhouse.command(statement)
    await store.checkBucket()
    const { stdout } = await intake(['doctor', '--json'])
    t.same((JSON.parse(stdout) as { findings: unknown }).findings, [])
  })

  const [port] = await freePorts(1)
  const own = { ...env, PORT: String(port) }
  const gateway = await startApp(t, 'gateway', { dataDir, env: own })
  await startApp(t, 'worker', { dataDir, env })
  const page = await startApp(t, 'console', { dataDir, env })
  const isReady = async () => (await fetch(`${gateway.adminUrl()}/readyz`)).ok
  await until('the gateway is ready', isReady)
  const user = `user-${randomUUID()}`
  const target = { url: `http://127.0.0.1:${port}`, apiKey }
  const send = () =>
    postFeedback(target, { text: 'Hello' }, { record: { unique_user_id: user }, images })

  let keys: string[] = []
  await t.test('201: the images are in the store, on the page and in an export', async (t) => {
    const response = await send()
    t.equal(response.status, 201)
    const { id } = (await response.json()) as { id: string }
    keys = (await keysOf(store, 'feedback/')).filter((key) => key.includes(id))
    t.equal(keys.length, images.length)
    for (const [index, key] of keys.entries()) {
      const image = images[index]!
      t.ok((await store.get(key))?.equals(image), key)
      const picture = await until('the page shows the picture', async () => {
        const shown = await fetch(`${page.adminUrl()}/attachments/${key}`)
        return shown.ok && Buffer.from(await shown.arrayBuffer())
      })
      t.ok(picture.equals(image), 'on the page')
    }
    const out = join(dataDir, 'export')
    const { code, stderr } = await intake(['user', 'export', user, '--out', out])
    t.equal(code, 0, stderr)
    t.match(stderr, `${images.length} attachments`)
    for (const [index, key] of keys.entries()) {
      t.ok(readFileSync(join(out, key)).equals(images[index]!), 'in the export')
    }
  })

  await t.test('503 within the timeout while the store is frozen or down; then 201', async (t) => {
    await freeze(t, server)
    const elapsedMs = startStopwatch(t)
    const frozen = await send()
    const ms = elapsedMs()
    server.thaw()
    t.equal(((await frozen.json()) as { code: string }).code, 'storage_unavailable')
    t.ok(ms < 3 * limits.storageMs, `${ms} ms`)
    await until('it is used again', async () => (await send()).status === 201)
    await server.kill()
    const down = await send()
    t.equal(((await down.json()) as { code: string }).code, 'storage_unavailable')
    await server.start()
    await until('it is used again', async () => (await send()).status === 201)
  })

  await t.test('an erased user has no object left', async (t) => {
    const { code, stderr } = await intake(['user', 'erase', user, '--yes', '--json'])
    t.equal(code, 0, stderr)
    const left = new Set(await keysOf(store, 'feedback/'))
    t.same(
      keys.filter((key) => left.has(key)),
      [],
    )
    const { stdout } = await intake(['user', 'export', user])
    t.equal(stdout, '')
  })
}
