import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { writePrivateJson } from './secrets.ts'

/** The addresses and processes of a running stack. URLs include the credentials. */
export interface Endpoints {
  gateway: string
  gatewayAdmin: string
  /** Of the first worker; null when the stack runs no worker. */
  workerAdmin: string | null
  redis: string
  clickhouse: string
  s3: string
  apiKey: string
  /** Null: not run by the stack, or being restarted. */
  pids: {
    redis: number | null
    clickhouse: number | null
    s3: number | null
    gateway: number | null
    workers: (number | null)[]
  }
}

export interface RunFiles {
  /** True when the previous run was killed, so its processes may still be ending. */
  previousRunWasKilled: boolean
  writeEndpoints(endpoints: Endpoints): void
  remove(): void
}

/**
 * Creates the files that exist only during a run: a marker file from the beginning, and
 * `endpoints.json` from the moment when all processes are ready.
 */
export function createRunFiles(dataDir: string): RunFiles {
  const endpointsFile = join(dataDir, 'endpoints.json')
  const markFile = join(dataDir, 'running')
  const previousRunWasKilled = existsSync(markFile)
  rmSync(endpointsFile, { force: true })
  writeFileSync(markFile, `${process.pid}\n`)
  return {
    previousRunWasKilled,
    writeEndpoints: (endpoints) => writePrivateJson(endpointsFile, endpoints),
    remove() {
      rmSync(endpointsFile, { force: true })
      rmSync(markFile, { force: true })
    },
  }
}
