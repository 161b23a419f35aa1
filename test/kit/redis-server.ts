import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRedis } from '@intake/local'
import { createAppProcess, type AppProcess } from './app-process.ts'

/** A separate Redis or sentinel, which can be killed, frozen and started again on the same data. */
export interface RedisServer {
  port: number
  /** The URL of this server alone. */
  url: string
  process: AppProcess
}

export const redisPassword = 'topologies'

/** Creates a durable Redis on loopback, without starting it. */
export const createRedisServer = (options: {
  dataDir: string
  port: number
  /** Additional lines of the server's configuration. */
  config?: readonly string[]
}): Promise<RedisServer> =>
  create(options, [
    `requirepass ${redisPassword}`,
    `masterauth ${redisPassword}`,
    'appendonly yes',
    'appendfsync always',
    'save ""',
    'maxmemory 256mb',
    'maxmemory-policy noeviction',
    // By default the server waits some seconds before it sends all data to a replica.
    'repl-diskless-sync-delay 0',
  ])

/** Creates a sentinel, without starting it. Sentinels write state into their configuration file. */
export const createSentinel = (options: {
  dataDir: string
  port: number
  config: readonly string[]
}): Promise<RedisServer> => create(options, [], ['--sentinel'])

async function create(
  options: { dataDir: string; port: number; config?: readonly string[] },
  lines: readonly string[],
  args: readonly string[] = [],
): Promise<RedisServer> {
  const { dataDir, port, config = [] } = options
  const dir = join(dataDir, String(port))
  const file = join(dir, 'redis.conf')
  mkdirSync(dir, { recursive: true })
  const all = ['bind 127.0.0.1', `port ${port}`, `dir ${JSON.stringify(dir)}`, ...lines, ...config]
  writeFileSync(file, `${all.join('\n')}\n`)
  const { path, env } = await findRedis()
  return {
    port,
    url: `redis://default:${redisPassword}@127.0.0.1:${port}`,
    process: createAppProcess({
      name: `redis-${port}`,
      command: path,
      args: [file, ...args],
      env: env as Record<string, string>,
      logFile: join(dir, 'redis.log'),
      up: /Ready to accept connections|\+monitor master/,
    }),
  }
}
