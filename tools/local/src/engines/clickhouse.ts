import { hash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort } from '../supervisor/ports.ts'
import { startReadyChild } from '../supervisor/ready-child.ts'
import { askOwner } from './ask-owner.ts'
import { serverConfig, usersConfig } from './clickhouse-config.ts'
import { keptFreeBytes } from '@intake/runtime'
import { checkFreeSpace } from './free-space.ts'
import { endHungQueries } from './hung-queries.ts'
import { findObstacles } from './obstacles.ts'
import { makePrivateDir } from './private-dir.ts'
import { randomSecret, type Service, type ServiceOptions } from './service.ts'

const probeTimeoutMs = 1_000
const host = fileURLToPath(new URL('../../hosts/clickhouse.mjs', import.meta.url))

/**
 * A shell script that runs a program with one end of a new terminal as its standard input, if the
 * system has terminals (see clickhouse-engine.mjs).
 */
const withTerminal = '(: <>/dev/ptmx) 2>/dev/null && exec <>/dev/ptmx; exec "$@"'

export interface ClickHouseOptions extends ServiceOptions {
  /** A program `clickhouse` that runs instead of the engine, and restricts `file()` itself. */
  serverProgram?: string | undefined
  /** The user `intake` has all rights. Each password is by default a new random one. */
  password?: string
  /** `worker` may insert into the raw tables. */
  workerPassword?: string
  /** With `reader`, consoles read what they show and send. */
  readerPassword?: string
  /** `analyst` may read the views. */
  analystPassword?: string
  /** Time zone of the server. Default: UTC, even if the machine has another time zone. */
  timeZone?: string
  /** The niceness of the server's process. Default: 10. */
  niceness?: number
  /** The time after which a query of `analyst` or `reader` is cancelled. Default: 150 seconds. */
  queryMsMax?: number
  /** When the server ends if a cancelled query still runs. Default: 30 seconds. */
  killMsMax?: number
  /** Any user can fill this log, and the engine never removes an earlier one. Default: no. */
  logQueries?: boolean
  /** Called with a sentence when a query is cancelled, and when a query makes the server end. */
  say?: (sentence: string) => void
}

export interface ClickHouse extends Service {
  workerUrl: string
  readerUrl: string
  /** The URL for queries: that of `analyst`, or of `intake` if there is no user `analyst`. */
  analystUrl: string
  /** A secret link that logs in `analyst` on the page for queries; undefined without the user. */
  playUrl: string | undefined
  /** The reason why the process is not confined to its files; then there is no `analyst`. */
  unconfined: string | undefined
  /** The reason why the user `intake` could make the process connect to other servers. */
  unconfinedNetwork: string | undefined
}

/**
 * Starts a ClickHouse server in a separate process, with HTTP on loopback only. Resolves when the
 * server executes a query of the user `intake`. The server always stops as abruptly as by SIGKILL,
 * which the tables survive. It ends by itself when its disk becomes full (clickhouse-engine.mjs),
 * and when a query runs too long and cannot be cancelled (hung-queries.ts).
 *
 * Unlike a deployed server, it has no `CREATE USER`, no asynchronous inserts and no `/metrics`. If the
 * system cannot confine its process (hosts/clickhouse.mjs), there is no user `analyst`.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const { password = randomSecret(), analystPassword = randomSecret() } = options
  const { workerPassword = randomSecret(), readerPassword = randomSecret() } = options
  const { timeZone = 'UTC', readyMs = 60_000, signal } = options
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
    keepFreeBytes,
    backupsDir,
    playPath,
    logQueries: options.logQueries,
    server: serverProgram === undefined ? undefined : { port, tablesDir },
  })
  writeFileSync(configFile, config, { mode: 0o600 })
  writeFileSync(usersFile, usersConfig(passwords, { isServer: serverProgram !== undefined }), {
    mode: 0o600,
  })

  const owner = { port, password }
  const engineArgs = [tablesDir, configFile, String(port), String(keepFreeBytes / 2)]
  const child = await startReadyChild({
    name: 'ClickHouse',
    command: serverProgram ?? 'sh',
    args:
      serverProgram === undefined
        ? ['-c', withTerminal, 'sh', process.execPath, host, ...engineArgs]
        : ['server', `--config-file=${configFile}`],
    cwd: dataDir,
    // Every user can make the engine show its environment, so the environment has no secret.
    env: { PATH: process.env['PATH'], TZ: timeZone, NICENESS: String(niceness) },
    logFile: options.logFile ?? join(dataDir, 'clickhouse.log'),
    ownSession: options.ownSession,
    readyMs,
    signal,
    probe: async () => (await askOwner('SELECT 1', owner, probeTimeoutMs)) === '1\n',
  })

  endHungQueries({ child, owner, queryMsMax, killMsMax, say })
  const urlOf = (user: string, secret: string) => `http://${user}:${secret}@127.0.0.1:${port}`
  return {
    ...child,
    port,
    url: urlOf('intake', password),
    workerUrl: urlOf('worker', workerPassword),
    readerUrl: urlOf('reader', readerPassword),
    analystUrl: hasAnalyst ? urlOf('analyst', analystPassword) : urlOf('intake', password),
    playUrl: playPath && playUrlOf(`http://127.0.0.1:${port}`, playPath, analystPassword),
    unconfined: obstacles.files,
    unconfinedNetwork: obstacles.network,
  }
}

/** A killed engine leaves temporary data and a log of queries, which none uses again. */
function removeLeftovers(tablesDir: string) {
  for (const folder of ['tmp', 'data/system/query_log']) {
    rmSync(join(tablesDir, folder), { recursive: true, force: true })
  }
}

/** The path has only a hash, because every user can make the engine show its configuration. */
function playPathOf(analystPassword: string) {
  return `/play/${hash('sha256', `play:${analystPassword}`)}`
}

/** The page sends queries to its parameter `url`. */
function playUrlOf(origin: string, path: string, password: string) {
  const login = new URLSearchParams({ url: origin, user: 'analyst', password })
  return `${origin}${path}?${login.toString()}`
}
