import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort } from '../supervisor/ports.ts'
import { startChild } from '../supervisor/child.ts'
import { untilReady } from '../supervisor/until-ready.ts'
import { askOwner } from './ask-owner.ts'
import { serverConfig, usersConfig } from './clickhouse-config.ts'
import { checkFreeSpace, keptFreeBytes } from './free-space.ts'
import { endHungQueries } from './hung-queries.ts'
import { findObstacles } from './obstacles.ts'
import { makePrivateDir } from './private-dir.ts'
import { randomSecret, type Service, type ServiceOptions, toService } from './service.ts'

const probeTimeoutMs = 1_000
const host = fileURLToPath(new URL('../../hosts/clickhouse.mjs', import.meta.url))

export interface ClickHouseOptions extends ServiceOptions {
  /** Password of the user `intake`, which has all rights. Default: a new random one. */
  password?: string
  /**
   * Password of the user `worker`, which may insert into the raw tables. Default: a new random one.
   */
  workerPassword?: string
  /**
   * Password of the user `reader`, which may read what workers show and send. Default: a new random
   * one.
   */
  readerPassword?: string
  /** Password of the user `analyst`, which may read the views. Default: a new random one. */
  analystPassword?: string
  /** Total memory limit of the server. */
  memoryBytesMax?: number
  /** Time zone of the server. Default UTC, regardless of the machine's zone. */
  timeZone?: string
  /** The niceness of the server's process. Default: 10. */
  niceness?: number
  /** A query of `analyst` or `reader` is cancelled after this time. Default: 150 seconds. */
  queryMsMax?: number
  /**
   * If a cancelled query is still running after this time, the server is ended. Default: 30
   * seconds.
   */
  killMsMax?: number
  /**
   * Whether queries are logged to `system.query_log`. Default: no, because any user can fill it
   * through query text, and the engine never removes a log that an earlier run left.
   */
  logQueries?: boolean
  /**
   * Called with a sentence when a query is cancelled, and when the server is ended because of a
   * query.
   */
  say?: (sentence: string) => void
}

export interface ClickHouse extends Service {
  /** The URL of the same server for the user `worker`. */
  workerUrl: string
  /** The URL of the same server for the user `reader`. */
  readerUrl: string
  /** The URL of the same server for the user `analyst`. */
  analystUrl: string
  /**
   * A link to the engine's page for queries, which logs in the user `analyst`. It contains a secret
   * that depends on that user's password. Undefined if there is no user `analyst`.
   */
  playUrl: string | undefined
  /**
   * Why the system cannot confine the process to its own files; if so, there is no user `analyst`.
   */
  unconfined: string | undefined
  /**
   * Why the system cannot keep the process from connecting to other servers. Then the user `intake`
   * can make it connect; the user `analyst` lacks the rights.
   */
  unconfinedNetwork: string | undefined
}

/**
 * Starts a ClickHouse server in a separate process, with HTTP on loopback only. Resolves when it
 * executes a query of the user `intake`. Stopping it is as abrupt as SIGKILL, which the tables
 * survive. It ends by itself when its disk becomes full (free-space.ts), and when a query ignores
 * its time limit and cannot be cancelled (hung-queries.ts).
 *
 * Differences from a deployed server: no `CREATE USER`, no asynchronous inserts, no `/metrics`,
 * credentials only by `X-ClickHouse-User` and `X-ClickHouse-Key`; the page for queries only by its
 * link. The function `file()` and some formats let every user read every file that the process can
 * read. The process is therefore confined (hosts/clickhouse.mjs): it can read only its data and its
 * configuration, with hashes of passwords. If the system cannot confine it, there is no user
 * `analyst`. From Linux 6.7 on it also cannot connect to anything.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const { password = randomSecret(), analystPassword = randomSecret() } = options
  const { workerPassword = randomSecret(), readerPassword = randomSecret() } = options
  const { memoryBytesMax = 2 * 1024 ** 3, timeZone = 'UTC', readyMs = 60_000, signal } = options
  const { niceness = 10, queryMsMax = 150_000, killMsMax = 30_000, say = () => undefined } = options
  const dataDir = resolve(options.dataDir)
  const tablesDir = join(dataDir, 'data')
  const configDir = join(dataDir, 'config')
  const backupsDir = join(tablesDir, 'backups')
  for (const folder of [dataDir, configDir, tablesDir, backupsDir]) makePrivateDir(folder)
  const keepFreeBytes = keptFreeBytes(tablesDir)
  removeLeftovers(tablesDir)
  checkFreeSpace(tablesDir, keepFreeBytes)

  const [port, obstacles] = await Promise.all([
    claimPort('ClickHouse', options.port),
    findObstacles(),
  ])
  const configFile = join(configDir, 'config.xml')
  const usersFile = join(configDir, 'users.xml')
  const hasAnalyst = obstacles.files === undefined
  const passwords = {
    password,
    workerPassword,
    readerPassword,
    analystPassword: hasAnalyst ? analystPassword : undefined,
  }
  const playPath = hasAnalyst ? playPathOf(analystPassword) : undefined
  const config = serverConfig({
    usersFile,
    memoryBytesMax,
    keepFreeBytes,
    backupsDir,
    playPath,
    logQueries: options.logQueries,
  })
  writeFileSync(configFile, config, { mode: 0o600 })
  writeFileSync(usersFile, usersConfig(passwords), { mode: 0o600 })

  const owner = { port, password }

  signal?.throwIfAborted()
  const child = startChild({
    name: 'ClickHouse',
    command: process.execPath,
    args: [host, tablesDir, configFile, String(port), String(keepFreeBytes / 2)],
    cwd: dataDir,
    // The environment contains no secret, because every user can make the engine show it.
    env: { PATH: process.env['PATH'], TZ: timeZone, NICENESS: String(niceness) },
    logFile: options.logFile ?? join(dataDir, 'clickhouse.log'),
    ownSession: options.ownSession,
  })
  await untilReady({
    child,
    signal,
    timeoutMs: readyMs,
    probe: async () => (await askOwner('SELECT 1', owner, probeTimeoutMs)) === '1\n',
  })

  endHungQueries({ child, owner, queryMsMax, killMsMax, say })
  const urlOf = (user: string, secret: string) => `http://${user}:${secret}@127.0.0.1:${port}`
  return {
    ...toService(child, { url: urlOf('intake', password), port }),
    workerUrl: urlOf('worker', workerPassword),
    readerUrl: urlOf('reader', readerPassword),
    analystUrl: urlOf('analyst', analystPassword),
    playUrl: playPath && playUrlOf(`http://127.0.0.1:${port}`, playPath),
    unconfined: obstacles.files,
    unconfinedNetwork: obstacles.network,
  }
}

/**
 * Removes files that a killed engine left: temporary data of queries, which only a starting engine
 * would remove, and the log of queries, which no engine uses again.
 */
function removeLeftovers(tablesDir: string) {
  for (const folder of ['tmp', 'data/system/query_log']) {
    rmSync(join(tablesDir, folder), { recursive: true, force: true })
  }
}

/**
 * The path contains a hash and not the password, because every user can make the engine show its
 * configuration.
 */
function playPathOf(analystPassword: string) {
  return `/play/${createHash('sha256').update(`play:${analystPassword}`).digest('hex')}`
}

/** The page sends its queries to the server that its parameter `url` names. */
function playUrlOf(origin: string, path: string) {
  const url = `${origin}${path}`
  return `${url}?url=${encodeURIComponent(url)}`
}
