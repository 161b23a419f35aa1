import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createClickHouse } from '@intake/clickhouse'
import { startClickHouse, startRedis, startS3, type Service } from '@intake/local'
import { connectRedis } from '@intake/redis'
import { createDataDir } from './data-dir.ts'

/**
 * Services that only this test uses until it ends, and that are empty when it begins. Test files
 * that share a process (tools/scripts/test-together.mjs) reuse them one after the other. Two tests cannot
 * use a service at the same time, because keys in Redis and the database in ClickHouse have fixed
 * names. A test that changes the settings of its service starts its own.
 */
export const ownRedis = (t: Test) => redis.take(t)
export const ownClickHouse = (t: Test) => clickhouse.take(t)
export const ownS3 = (t: Test): ReturnType<typeof startS3> => s3.take(t)

/**
 * Keeps services for the next test instead of stopping them, until the teardowns of `owner` run.
 */
export function keepServices(owner: Owner): void {
  for (const pool of [redis, clickhouse, s3]) pool.keep(owner)
}

const redis = createPool({
  start: (dataDir) => startRedis({ dataDir, port: 0 }),
  async empty({ url }) {
    const client = connectRedis({ url, role: 'consumer', onError: () => {} })
    await client.flushall()
    client.disconnect()
  },
})

const clickhouse = createPool({
  // Tests wait for this server. With its usual low priority, it would hardly run on a busy machine.
  start: (dataDir) => startClickHouse({ dataDir, port: 0, niceness: 0 }),
  async empty({ url }) {
    const client = createClickHouse({ url })
    await client.command('SYSTEM START MERGES')
    const named = await client.query<{ name: string }>(
      "SELECT name FROM system.functions WHERE origin = 'SQLUserDefined'",
    )
    await client.command('DROP DATABASE IF EXISTS intake SYNC')
    for (const { name } of named) await client.command(`DROP FUNCTION IF EXISTS ${name}`)
    await client.close()
  },
})

const s3 = createPool({
  start: (dataDir) => startS3({ dataDir, port: 0 }),
  async empty(_, dataDir) {
    const buckets = join(dataDir, 'buckets')
    for (const name of readdirSync(buckets))
      await rm(join(buckets, name), { recursive: true, force: true, maxRetries: 9 })
  },
})

type Owner = Pick<Test, 'teardown'>

interface Running<S> {
  service: S
  dataDir: string
}

function createPool<S extends Service>(kind: {
  start: (dataDir: string) => Promise<S>
  empty: (service: S, dataDir: string) => Promise<void>
}) {
  /** The owner of the kept services; undefined if each service is stopped when its test ends. */
  let keeper: Owner | undefined
  const free: Running<S>[] = []

  async function start(owner: Owner): Promise<Running<S>> {
    const dataDir = createDataDir(owner)
    const service = await kind.start(dataDir)
    owner.teardown(() => service.stop())
    return { service, dataDir }
  }
  return {
    keep: (owner: Owner) => void (keeper = owner),
    async take(t: Test): Promise<S> {
      const running = free.pop() ?? (await start(keeper ?? t))
      if (keeper === undefined) return running.service
      t.teardown(async () => {
        await kind.empty(running.service, running.dataDir)
        free.push(running)
      })
      return running.service
    },
  }
}
