import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createApiKeyStore } from '@intake/access'
import { createAppProcess, type AppProcess } from '@intake/test-kit/app-process'
import { startCluster, type Cluster } from '../faults/kit/cluster.ts'
import { until } from '@intake/test-kit/until'
import { freePorts } from '@intake/test-kit/free-ports'

/** Redis, ClickHouse, S3 and a worker, shared by the cases, and a gateway for each case. */
export interface Stage {
  cluster: Cluster
  innocentKey: string
  attackerKey: string
  dir: string
  root: string
  /** Creates a gateway process without starting it. */
  createGateway(env?: Record<string, string>): Promise<Gateway>
  close(): Promise<void>
}

export interface Gateway {
  process: AppProcess
  port: number
  url: string
  /** Resolves when the gateway is ready. */
  start(): Promise<void>
}

const attackerKey = 'hostile-key-0123456789abcdef'
/** The maximum heap of a gateway. A gateway that needs more memory crashes instead of growing. */
const heapMiB = 512

/**
 * Limits that an attack cannot reach. An attack comes from one device with one key, so the usual
 * limits would soon end it.
 */
const atFullForce = {
  EVENTS_PER_MINUTE_MAX: '1000000000',
  LOG_BYTES_PER_MINUTE_MAX: String(2 ** 50),
  FEEDBACK_PER_MINUTE_MAX: '1000000000',
  ATTACHMENT_BYTES_PER_MINUTE_MAX: String(2 ** 50),
  DEVICE_EVENTS_PER_MINUTE_MAX: '1000000000',
  DEVICE_FEEDBACK_PER_MINUTE_MAX: '1000000000',
}

/**
 * Starts the services that all cases share.
 *
 * @param options.root directory of the built code to test
 */
export async function startStage(options: { dir: string; root: string }): Promise<Stage> {
  const { dir, root } = options
  mkdirSync(dir, { recursive: true })
  // The cluster starts no gateway and no worker, because it would connect them through proxies.
  // Proxies would run in the innocent sender's process, and use its CPU. So this function starts
  // the worker and the gateways itself, without proxies.
  const cluster = await startCluster({
    dataDir: dir,
    root,
    random: Math.random,
    gateways: 0,
    workers: 0,
  })
  const apps: AppProcess[] = []
  const close = async () => {
    for (const app of apps) await app.kill()
    await cluster.close()
  }
  const app = (
    name: string,
    folder: string,
    env: Record<string, string>,
    nodeArgs: string[] = [],
  ) => {
    const args = [...nodeArgs, join(root, folder, 'dist', 'main.js')]
    const logFile = join(dir, `${name}.log`)
    const created = createAppProcess({ name, args, env, logFile })
    apps.push(created)
    return created
  }

  try {
    const keys = createApiKeyStore({ redis: cluster.keys })
    await keys.create({ name: 'hostile', secret: attackerKey })
    const redis = { REDIS_URL: cluster.redis.url() }
    const clickhouse = { CLICKHOUSE_URL: cluster.clickhouse.url() }
    await app('worker', 'worker', { WORKER_ADMIN_PORT: '0', ...redis, ...clickhouse }).start()
    let gateways = 0

    return {
      cluster,
      innocentKey: cluster.apiKey,
      attackerKey,
      dir,
      root,
      async createGateway(env = {}) {
        const [port] = (await freePorts(1)) as [number]
        const own = { PORT: String(port), GATEWAY_ADMIN_PORT: '0', ...redis }
        const process = app(
          `gateway-${++gateways}`,
          'gateway',
          { ...own, S3_ENDPOINT: cluster.s3.url(), ...atFullForce, ...env },
          [`--max-old-space-size=${heapMiB}`],
        )
        const url = `http://127.0.0.1:${port}`
        return {
          process,
          port,
          url,
          async start() {
            await process.start()
            await until('the gateway is ready', () => isReady(url))
          },
        }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`, {
    signal: AbortSignal.timeout(2_000),
    headers: { connection: 'close' },
  })
  return response.ok
}
