import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
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
export const ownS3 = (t: Test): ReturnType<typeof startS3> => s3.take(t)

/**
 * Keeps services for the next test instead of stopping them, until the teardowns of `owner` run, or
 * of the owner that is named first.
 */
export function keepServices(owner: Owner): void {
  for (const pool of [redis, clickhouse, s3]) pool.keep(owner)
}

export async function ownClickHouse(t: Test): Promise<ClickHouseService> {
  const server = await clickhouse.take(t)
  if (prepared.delete(server)) await withOwner(server, dropAll)
  return server
}

/**
 * Like `ownClickHouse`, but with the tables that `prepare` creates, which are empty. If an earlier
 * test has prepared the server under the same name, and left the tables as they were, `prepare` is
 * not called.
 */
export async function ownPreparedClickHouse(
  t: Test,
  options: { name: string; prepare: (owner: ClickHouse) => Promise<unknown> },
): Promise<ClickHouseService> {
  const { name, prepare } = options
  const server = await clickhouse.take(t)
  if (prepared.get(server)?.name === name) return server
  const wasPrepared = prepared.delete(server)
  await withOwner(server, async (owner) => {
    if (wasPrepared) await dropAll(owner)
    await prepare(owner)
    prepared.set(server, { name, objects: await describeObjects(owner) })
  })
  return server
}

type ClickHouseService = Awaited<ReturnType<typeof startClickHouse>>

/** The servers that have empty tables, and what `describeObjects` says about these tables. */
const prepared = new Map<Service, { name: string; objects: string }>()

async function withOwner(server: Service, work: (owner: ClickHouse) => Promise<void>) {
  const owner = createClickHouse({ url: server.url })
  try {
    await work(owner)
  } finally {
    await owner.close()
  }
}

/** All tables, views and functions, as they are defined. */
async function describeObjects(owner: ClickHouse): Promise<string> {
  const objects = await owner.query(
    `SELECT * FROM (
       SELECT name, create_table_query AS definition FROM system.tables WHERE database = 'intake'
       UNION ALL
       SELECT name, create_query AS definition FROM system.functions WHERE origin = 'SQLUserDefined'
     ) ORDER BY name`,
  )
  return JSON.stringify(objects)
}

/** `migrate` needs to know what it has applied. */
async function truncateAll(owner: ClickHouse): Promise<void> {
  const filled = await owner.query<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = 'intake' AND total_rows > 0 AND name != 'schema_migrations'`,
  )
  for (const { name } of filled) await owner.command(`TRUNCATE TABLE intake.${name} SYNC`)
}

async function dropAll(owner: ClickHouse): Promise<void> {
  const named = await owner.query<{ name: string }>(
    "SELECT name FROM system.functions WHERE origin = 'SQLUserDefined'",
  )
  await owner.command('DROP DATABASE IF EXISTS intake SYNC')
  for (const { name } of named) await owner.command(`DROP FUNCTION IF EXISTS ${name}`)
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
  empty: (server) =>
    withOwner(server, async (owner) => {
      await owner.command('SYSTEM START MERGES')
      if (prepared.get(server)?.objects === (await describeObjects(owner)))
        return truncateAll(owner)
      prepared.delete(server)
      return dropAll(owner)
    }),
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
    keep: (owner: Owner) => void (keeper ??= owner),
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
