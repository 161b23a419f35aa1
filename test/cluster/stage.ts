import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { startClickHouse, startS3, type Service } from '@intake/local'
import { connectRedis, type Redis } from '@intake/redis'
import { setUp } from '@intake/schema/setup'
import { startApp } from '@intake/test-kit/app'
import { freePorts } from '@intake/test-kit/free-ports'
import { until } from '@intake/test-kit/until'
import { topologies, type Topology, type TopologyName } from './topologies.ts'

/** ClickHouse and S3, which all runs share. */
export interface Stores {
  clickhouse: Service & { workerUrl: string }
  s3: Service
  sql: ClickHouse
  close(): Promise<void>
}

export async function startStores(dataDir: string): Promise<Stores> {
  const passwords = { password: 'cluster', workerPassword: 'cluster', analystPassword: 'cluster' }
  const [clickhouse, s3] = await Promise.all([
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0, ...passwords }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0, secretKey: 'cluster-secret' }),
  ])
  const sql = createClickHouse({ url: clickhouse.url, requestTimeoutMs: 120_000 })
  return {
    clickhouse,
    s3,
    sql,
    async close() {
      await sql.close()
      await Promise.all([clickhouse.stop(), s3.stop()])
    },
  }
}

/** A gateway and a worker on a Redis of their own. */
export interface Stage {
  topology: Topology
  apiKey: string
  gatewayUrl: string
  /** The test's own connection to Redis. */
  keys: Redis
  isReady(): Promise<boolean>
  close(): Promise<void>
}

const apiKey = 'cluster-key-0123456789abcdef'
const bucket = { bucket: 'intake', region: 'us-east-1' }

export async function startStage(options: {
  dataDir: string
  stores: Stores
  topology: TopologyName
  redisConfig: readonly string[]
  gatewayEnv: Record<string, string>
}): Promise<Stage> {
  const { dataDir, stores, redisConfig, gatewayEnv } = options
  mkdirSync(dataDir, { recursive: true })
  const topology = await topologies[options.topology]({ dataDir, config: redisConfig })
  const keys = connectRedis({ url: topology.url, role: 'consumer', onError: () => undefined })
  const ends: (() => Promise<void>)[] = []
  const close = async () => {
    await Promise.all(ends.map((end) => end()))
    keys.disconnect()
    await topology.close()
  }
  try {
    await setUp({
      redisUrl: topology.url,
      clickhouseUrl: stores.clickhouse.url,
      s3: { endpoint: stores.s3.url, ...bucket },
      apiKey: { name: 'cluster', secret: apiKey },
      acceptEmptyRedis: true,
    })
    const [port] = await freePorts(1)
    const owner = { teardown: (end: () => Promise<void>) => void ends.push(end) }
    const urls = { REDIS_URL: topology.url, S3_ENDPOINT: stores.s3.url }
    await startApp(owner, 'gateway', {
      dataDir,
      env: { ...urls, PORT: String(port), ...gatewayEnv },
    })
    await startApp(owner, 'worker', {
      dataDir,
      env: { ...urls, CLICKHOUSE_URL: stores.clickhouse.workerUrl },
    })
    const gatewayUrl = `http://127.0.0.1:${port}`
    const isReady = async () => {
      const signal = AbortSignal.timeout(10_000)
      return (await fetch(`${gatewayUrl}/readyz`, { signal })).ok
    }
    await until('the gateway is ready', isReady)
    return { topology, apiKey, gatewayUrl, keys, isReady, close }
  } catch (error) {
    await close()
    throw error
  }
}
