import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { writePrivateJson } from './secrets.ts'

/** Where everything is while the stack runs; URLs with their credentials. */
export interface Endpoints {
  gateway: string
  gatewayAdmin: string
  /** Of the first worker; null: the stack runs none. */
  workerAdmin: string | null
  redis: string
  clickhouse: string
  s3: string
  apiKey: string
  /** Null: not part of the stack, or being started again. */
  pids: {
    redis: number | null
    clickhouse: number | null
    s3: number | null
    gateway: number | null
    workers: (number | null)[]
  }
}

export interface RunFiles {
  /** True when the run before this one was killed, so that its processes may still be ending. */
  previousRunWasKilled: boolean
  writeEndpoints(endpoints: Endpoints): void
  remove(): void
}

/**
 * What a run keeps in the data directory only while it lasts: `endpoints.json`, which is there from
 * the moment all processes are ready, and a mark from the beginning.
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
