import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { connectRedis, type Redis } from '@intake/redis'
import { setUp } from '@intake/schema/setup'
import { startClickHouse, startRedis, startS3, type Service } from '@intake/local'
import type { Owner } from './owner.ts'

/** The services that all variants share, on free loopback ports, with their own data. */
export interface Services {
  redis: Service
  clickhouse: Service
  s3: Service
  apiKey: string
  /** The connections of the bench itself, not of a variant. */
  sql: ClickHouse
  keys: Redis
  /** Kills ClickHouse; inserts fail until it is started again on the same data. */
  stopClickHouse(): Promise<void>
  startClickHouse(): Promise<void>
}

const chrtMs = 5_000
const password = 'bench'
const apiKey = 'bench-key-0123456789abcdef'
export const s3Settings = { bucket: 'intake', region: 'us-east-1' }

export interface Addresses {
  redisUrl: string
  clickhouseUrl: string
  s3Url: string
  apiKey: string
}

/**
 * Starts Redis (`appendfsync always`), ClickHouse and S3, and creates tables, bucket and API key.
 *
 * @param options.prepare creates tables, bucket and API key; default: the setup of this tree
 */
export async function startServices(options: {
  dataDir: string
  owner: Owner
  prepare?: (addresses: Addresses) => Promise<unknown>
}): Promise<Services> {
  const { dataDir, owner, prepare = setUpThisTree } = options
  mkdirSync(dataDir, { recursive: true })
  const place = (name: string) => placeOf(name, options)
  const start = <S extends Service>(launched: Promise<S>) => own(owner, launched)
  const launchClickHouse = async (port: number) => {
    const passwords = { password, analystPassword: password }
    const service = await start(startClickHouse({ ...place('clickhouse'), port, ...passwords }))
    leaveToOthers(service.pid)
    return service
  }

  const started = await Promise.all([
    // The memory of Redis is enough for the backlog of the variant `naive`.
    start(startRedis({ ...place('redis'), port: 0, password, maxmemory: '4gb' })),
    launchClickHouse(0),
    start(startS3({ ...place('s3'), port: 0, secretKey: 'bench-secret' })),
  ])
  const [redis, , s3] = started
  let [, clickhouse] = started
  await prepare({ redisUrl: redis.url, clickhouseUrl: clickhouse.url, s3Url: s3.url, apiKey })
  const sql = createClickHouse({ url: clickhouse.url, requestTimeoutMs: 60_000 })
  owner.add(() => sql.close())
  const keys = await observe(redis, owner)

  return {
    redis,
    get clickhouse() {
      return clickhouse
    },
    s3,
    apiKey,
    sql,
    keys,
    async stopClickHouse() {
      clickhouse.kill()
      await clickhouse.exited
    },
    async startClickHouse() {
      clickhouse = await launchClickHouse(clickhouse.port)
    },
  }
}

const setUpThisTree = ({ redisUrl, clickhouseUrl, s3Url, apiKey: secret }: Addresses) =>
  setUp({
    redisUrl,
    clickhouseUrl,
    s3: { endpoint: s3Url, ...s3Settings },
    apiKey: { name: 'bench', secret },
    acceptEmptyRedis: false,
  })

function placeOf(name: string, { dataDir, owner }: { dataDir: string; owner: Owner }) {
  return {
    dataDir: join(dataDir, name),
    signal: owner.signal,
    // ClickHouse gets no session of its own, because its idle priority would then have no effect.
    // Linux first divides processor time between sessions, and applies priorities only within one.
    ownSession: false,
  }
}

async function own<S extends Service>(owner: Owner, launched: Promise<S>): Promise<S> {
  const service = await launched
  owner.add(async () => {
    service.kill()
    await service.exited
  })
  return service
}

async function observe(redis: Service, owner: Owner): Promise<Redis> {
  const keys = connectRedis({ url: redis.url, role: 'producer', onError: console.error })
  owner.add(async () => keys.disconnect())
  await once(keys, 'ready')
  return keys
}

/**
 * Runs a process at idle priority (SCHED_IDLE): it yields the processors to other processes at
 * once. This resembles a separate machine for the process as closely as one machine can.
 */
function leaveToOthers(pid: number): void {
  execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)], { timeout: chrtMs })
}
