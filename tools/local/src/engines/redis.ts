import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { claimPort } from '../supervisor/ports.ts'
import { startReadyChild } from '../supervisor/ready-child.ts'
import { makePrivateDir } from './private-dir.ts'
import { findRedis } from './redis-binary.ts'
import { pingRedis } from './redis-ping.ts'
import { randomSecret, type Service, type ServiceOptions } from './service.ts'

export interface RedisOptions extends ServiceOptions {
  password?: string
  /** The memory limit in Redis notation. Redis refuses writes beyond it and evicts nothing. */
  maxmemory?: string
  /** Called with one sentence before Redis is downloaded. */
  say?: (sentence: string) => void
}

/**
 * Starts a Redis on loopback. It confirms a write only when the write is on stable storage, so its
 * data survives restarts and SIGKILL. Resolves when Redis has loaded its data and responds to PING.
 */
export async function startRedis(options: RedisOptions): Promise<Service> {
  const { password = randomSecret(), maxmemory = '512mb', readyMs = 60_000, say, signal } = options
  const dataDir = resolve(options.dataDir)
  const [binary, port] = await Promise.all([
    findRedis({ say, signal }),
    claimPort('Redis', options.port),
  ])

  const configFile = join(dataDir, 'redis.conf')
  for (const folder of [dataDir, join(dataDir, 'data')]) makePrivateDir(folder)
  writeFileSync(configFile, redisConfig({ dataDir, port, password, maxmemory }), { mode: 0o600 })

  const child = await startReadyChild({
    name: 'Redis',
    command: binary.path,
    args: [configFile],
    // `TZ` sets the time zone of Redis's log. Redis reads it only from the environment.
    env: { ...process.env, TZ: 'UTC', ...binary.env },
    logFile: options.logFile ?? join(dataDir, 'redis.log'),
    ownSession: options.ownSession,
    readyMs,
    signal,
    probe: () => pingRedis({ port, password }),
  })
  return { ...child, port, url: `redis://default:${password}@127.0.0.1:${port}` }
}

/** The password is no argument of the command line, because every user could read it. */
function redisConfig(options: {
  dataDir: string
  port: number
  password: string
  maxmemory: string
}) {
  return `bind 127.0.0.1
port ${options.port}
requirepass ${options.password}
dir ${JSON.stringify(join(options.dataDir, 'data'))}
appendonly yes
appendfsync always
save ""
maxmemory ${options.maxmemory}
maxmemory-policy noeviction
daemonize no
`
}
