import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startChild } from './child.ts'
import { serverConfig, usersConfig } from './clickhouse-config.ts'
import { claimPort } from './ports.ts'
import { randomSecret, type Service, type ServiceOptions, toService } from './service.ts'
import { untilReady } from './until-ready.ts'

const host = fileURLToPath(new URL('../hosts/clickhouse.mjs', import.meta.url))

export interface ClickHouseOptions extends ServiceOptions {
  /** Of the user `intake`, who may do everything. Default: a new random one. */
  password?: string
  /** Of the user `analyst`, who may read the database `intake`. Default: a new random one. */
  analystPassword?: string
  /** The server's own limit for all it does. */
  memoryBytesMax?: number
}

export interface ClickHouse extends Service {
  /** The same server as the user `analyst`. */
  analystUrl: string
}

/**
 * A ClickHouse server in a process of its own, HTTP on loopback only. Resolves when it executes a
 * query of the user `intake`. Stopping it is as abrupt as SIGKILL, which the tables survive.
 *
 * Differences from a deployed server: no `CREATE USER`, no asynchronous inserts, no `/metrics`,
 * credentials only by basic authentication or `X-ClickHouse-User`, and the function `file()` reads
 * every file that this process can read, for analysts too.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const { password = randomSecret(), analystPassword = randomSecret() } = options
  const { memoryBytesMax = 2 * 1024 ** 3, readyMs = 60_000, signal } = options
  const dataDir = resolve(options.dataDir)
  const port = await claimPort('ClickHouse', options.port)

  mkdirSync(join(dataDir, 'data'), { recursive: true })
  const configFile = join(dataDir, 'config.xml')
  const usersFile = join(dataDir, 'users.xml')
  writeFileSync(configFile, serverConfig({ usersFile, memoryBytesMax }), { mode: 0o600 })
  writeFileSync(usersFile, usersConfig({ password, analystPassword }), { mode: 0o600 })

  signal?.throwIfAborted()
  const child = startChild({
    name: 'ClickHouse',
    command: process.execPath,
    args: [host, join(dataDir, 'data'), configFile, String(port)],
    cwd: dataDir,
    logFile: options.logFile ?? join(dataDir, 'clickhouse.log'),
    ownSession: options.ownSession,
  })
  await untilReady({ child, signal, deadlineMs: readyMs, probe: () => answers({ port, password }) })

  const urlOf = (user: string, secret: string) => `http://${user}:${secret}@127.0.0.1:${port}`
  return {
    ...toService(child, { url: urlOf('intake', password), port }),
    analystUrl: urlOf('analyst', analystPassword),
  }
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
