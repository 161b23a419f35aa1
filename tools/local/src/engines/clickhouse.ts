import { hash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort } from '../supervisor/ports.ts'
import { startChild } from '../supervisor/child.ts'
import { untilReady } from '../supervisor/until-ready.ts'
import { askOwner } from './ask-owner.ts'
import { serverConfig, usersConfig } from './clickhouse-config.ts'
import { keptFreeBytes } from '@intake/runtime'
import { checkFreeSpace } from './free-space.ts'
import { endHungQueries } from './hung-queries.ts'
import { findObstacles } from './obstacles.ts'
import { makePrivateDir } from './private-dir.ts'
import { randomSecret, type Service, type ServiceOptions, toService } from './service.ts'

const probeTimeoutMs = 1_000
const host = fileURLToPath(new URL('../../hosts/clickhouse.mjs', import.meta.url))

export interface ClickHouseOptions extends ServiceOptions {
  /**
   * Path of a program `clickhouse`, which runs as a server with the same users instead of the
   * embedded engine. Such a server itself restricts `file()` to a folder.
   */
  serverProgram?: string | undefined
  /**
   * The port in the URLs for people, which are `analystUrl` and `playUrl`. Default: the port of the
   * server.
   */
  publicPort?: number
  /** Password of the user `intake`, which has all rights. Default: a new random one. */
  password?: string
  /**
   * Password of the user `worker`, which may insert into the raw tables. Default: a new random one.
   */
  workerPassword?: string
  /**
   * Password of the user `reader`, with which workers read the data that they show and send.
   * Default: a new random one.
   */
  readerPassword?: string
  /** Password of the user `analyst`, which may read the views. Default: a new random one. */
  analystPassword?: string
  /** Memory limit of the whole server, in bytes. Default: 2 GiB. */
  memoryBytesMax?: number
  /** Time zone of the server. Default: UTC, even if the machine has another time zone. */
  timeZone?: string
  /** The niceness of the server's process. Default: 10. */
  niceness?: number
  /** The time after which a query of `analyst` or `reader` is cancelled. Default: 150 seconds. */
  queryMsMax?: number
  /**
   * The time after which the server is ended if a cancelled query is still running. Default: 30
   * seconds.
   */
  killMsMax?: number
  /**
   * Whether queries are logged to `system.query_log`. Default: no, because any user can fill this
   * log with the texts of queries, and the engine never removes the log of an earlier process.
   */
  logQueries?: boolean
  /** Called with a sentence when a query is cancelled, and when a query makes the server end. */
  say?: (sentence: string) => void
}

export interface ClickHouse extends Service {
  workerUrl: string
  readerUrl: string
  /** The URL for queries: that of `analyst`, or of `intake` if there is no user `analyst`. */
  analystUrl: string
  /**
   * A link to the engine's page for queries, which logs in the user `analyst`. It contains a secret
   * that depends on that user's password. Undefined if there is no user `analyst`.
   */
  playUrl: string | undefined
  /**
   * Why the system cannot confine the process to its own files. Undefined if the process is
   * confined; only then is there a user `analyst`.
   */
  unconfined: string | undefined
  /**
   * Why the system cannot keep the process from connecting to other servers; undefined if it can.
   * If there is a reason, the user `intake` can make the process connect to other servers. The user
   * `analyst` never has the rights to do so.
   */
  unconfinedNetwork: string | undefined
}

/**
 * Starts a ClickHouse server in a separate process, with HTTP on loopback only. Resolves when the
 * server executes a query of the user `intake`. The server always stops as abruptly as by SIGKILL,
 * which the tables survive. It ends by itself when its disk becomes full (free-space.ts), and when
 * a query runs too long and cannot be cancelled (hung-queries.ts).
 *
 * Unlike a deployed server, it has no `CREATE USER`, no asynchronous inserts and no `/metrics`. It
 * accepts credentials only in the headers `X-ClickHouse-User` and `X-ClickHouse-Key`, and serves
 * the page for queries only at its secret link.
 *
 * With the function `file()` and some formats, every user can read every file that the process can
 * read. Therefore the process is confined (hosts/clickhouse.mjs): it can read only its program, its
 * data and its configuration, which contains hashes of the passwords. From Linux 6.7 on, the
 * process also cannot connect to anything. No user can create a file with `sqlite()`, which does so
 * before it checks the right (packages/confinement). If the system cannot confine the process, there is no
 * user `analyst`.
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

  const { serverProgram } = options
  const [port, obstacles]: [number, { files?: string; network?: string }] = await Promise.all([
    claimPort('ClickHouse', options.port),
    serverProgram === undefined ? findObstacles() : {},
  ])
  const configFile = join(configDir, 'config.xml')
  const usersFile = join(configDir, 'users.xml')
  const hasAnalyst = obstacles.files === undefined
  const passwords = {
    intake: password,
    worker: workerPassword,
    reader: readerPassword,
    analyst: hasAnalyst ? analystPassword : undefined,
  }
  const playPath = hasAnalyst ? playPathOf(analystPassword) : undefined
  const config = serverConfig({
    usersFile,
    memoryBytesMax,
    keepFreeBytes,
    backupsDir,
    playPath,
    logQueries: options.logQueries,
    server: serverProgram === undefined ? undefined : { port, tablesDir },
  })
  writeFileSync(configFile, config, { mode: 0o600 })
  writeFileSync(usersFile, usersConfig(passwords), { mode: 0o600 })

  const owner = { port, password }

  signal?.throwIfAborted()
  const child = startChild({
    name: 'ClickHouse',
    command: serverProgram ?? process.execPath,
    args:
      serverProgram === undefined
        ? [host, tablesDir, configFile, String(port), String(keepFreeBytes / 2)]
        : ['server', `--config-file=${configFile}`],
    cwd: dataDir,
    // Every user can make the engine show its environment, so the environment has no secret.
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
  const { publicPort = port } = options
  const urlOf = (user: string, secret: string, at = port) =>
    `http://${user}:${secret}@127.0.0.1:${at}`
  return {
    ...toService(child, { url: urlOf('intake', password), port }),
    workerUrl: urlOf('worker', workerPassword),
    readerUrl: urlOf('reader', readerPassword),
    analystUrl: hasAnalyst
      ? urlOf('analyst', analystPassword, publicPort)
      : urlOf('intake', password, publicPort),
    playUrl: playPath && playUrlOf(`http://127.0.0.1:${publicPort}`, playPath),
    unconfined: obstacles.files,
    unconfinedNetwork: obstacles.network,
  }
}

/**
 * Removes two kinds of files that a killed engine left. One is the temporary data of its queries,
 * which the check of free space before the start would count as used. The other is its log of
 * queries, which no engine uses again.
 */
function removeLeftovers(tablesDir: string) {
  for (const folder of ['tmp', 'data/system/query_log']) {
    rmSync(join(tablesDir, folder), { recursive: true, force: true })
  }
}

/**
 * The secret path of the page for queries. Every user can make the engine show its configuration,
 * so the path contains a hash and not the password.
 */
function playPathOf(analystPassword: string) {
  return `/play/${hash('sha256', `play:${analystPassword}`)}`
}

/**
 * The link to the page for queries. Its parameter `url` is the URL to which the page sends queries.
 */
function playUrlOf(origin: string, path: string) {
  const url = `${origin}${path}`
  return `${url}?url=${encodeURIComponent(url)}`
}
