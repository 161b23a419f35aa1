import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { claimPort, startChild, untilReady } from '@intake/supervisor'
import { serverConfig, usersConfig } from './clickhouse-config.ts'
import { randomSecret, type Service, type ServiceOptions, toService } from './service.ts'

const checkTimeoutMs = 20_000
const host = fileURLToPath(new URL('../hosts/clickhouse.mjs', import.meta.url))

export interface ClickHouseOptions extends ServiceOptions {
  /** Of the user `intake`, who may do everything. Default: a new random one. */
  password?: string
  /** Of the user `analyst`, who may read the views. Default: a new random one. */
  analystPassword?: string
  /** The server's own limit for all it does. */
  memoryBytesMax?: number
}

export interface ClickHouse extends Service {
  /** The same server as the user `analyst`. */
  analystUrl: string
  /** Why the system cannot confine the process to its files. Then there is no user `analyst`. */
  unconfined: string | undefined
  /**
   * Why the system cannot keep the process from connecting to other servers. Then the user `intake` can
   * make it do so; the user `analyst` lacks the rights.
   */
  unconfinedNetwork: string | undefined
}

/**
 * A ClickHouse server in a process of its own, HTTP on loopback only. Resolves when it executes a
 * query of the user `intake`. Stopping it is as abrupt as SIGKILL, which the tables survive.
 *
 * Differences from a deployed server: no `CREATE USER`, no asynchronous inserts, no `/metrics`,
 * credentials only by basic authentication or `X-ClickHouse-User`. The function `file()` and some
 * formats read every file that the process can read, for every user. So the process is confined
 * (hosts/clickhouse.mjs): it reads its own data and configuration, with hashes of the passwords. Where the
 * system cannot do that, there is no user `analyst`. From Linux 6.7 on it also connects to nothing.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const { password = randomSecret(), analystPassword = randomSecret() } = options
  const { memoryBytesMax = 2 * 1024 ** 3, readyMs = 60_000, signal } = options
  const dataDir = resolve(options.dataDir)
  const [port, obstacles] = await Promise.all([
    claimPort('ClickHouse', options.port),
    findObstacles(),
  ])

  for (const name of ['data', 'config']) mkdirSync(join(dataDir, name), { recursive: true })
  const configFile = join(dataDir, 'config', 'config.xml')
  const usersFile = join(dataDir, 'config', 'users.xml')
  const passwords = obstacles.files === undefined ? { password, analystPassword } : { password }
  writeFileSync(configFile, serverConfig({ usersFile, memoryBytesMax }), { mode: 0o600 })
  writeFileSync(usersFile, usersConfig(passwords), { mode: 0o600 })

  signal?.throwIfAborted()
  const child = startChild({
    name: 'ClickHouse',
    command: process.execPath,
    args: [host, join(dataDir, 'data'), configFile, String(port)],
    cwd: dataDir,
    // The engine can show its environment to every user.
    env: { PATH: process.env['PATH'] },
    logFile: options.logFile ?? join(dataDir, 'clickhouse.log'),
    ownSession: options.ownSession,
  })
  await untilReady({ child, signal, timeoutMs: readyMs, probe: () => answers({ port, password }) })

  const urlOf = (user: string, secret: string) => `http://${user}:${secret}@127.0.0.1:${port}`
  return {
    ...toService(child, { url: urlOf('intake', password), port }),
    analystUrl: urlOf('analyst', analystPassword),
    unconfined: obstacles.files,
    unconfinedNetwork: obstacles.network,
  }
}

/** Why this system cannot confine the engine; absent: it can. */
async function findObstacles(): Promise<{ files?: string; network?: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [host, '--check'], {
    timeout: checkTimeoutMs,
  })
  return JSON.parse(stdout) as { files?: string; network?: string }
}

async function answers({ port, password }: { port: number; password: string }) {
  const authorization = `Basic ${Buffer.from(`intake:${password}`).toString('base64')}`
  try {
    const response = await fetch(`http://127.0.0.1:${port}/?query=SELECT+1`, {
      headers: { authorization, connection: 'close' },
      signal: AbortSignal.timeout(1000),
    })
    return (await response.text()) === '1\n'
  } catch {
    return false // not listening yet
  }
}
