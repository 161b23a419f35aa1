import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointsFile } from '@intake/runtime'
import type { Endpoints } from '@intake/runtime/endpoints'
import { writePrivateJson } from './private-json.ts'

export interface RunFiles {
  /** Whether the previous run of the stack was killed. Its processes may then still be ending. */
  previousRunWasKilled: boolean
  previousEnginePort: number | undefined
  /** Notes the port of the ClickHouse process, for the start after this run was killed. */
  noteEnginePort(port: number | undefined): void
  writeEndpoints(endpoints: Endpoints): void
  remove(): void
}

/**
 * `running` remains if the stack is killed; `endpoints.json` exists while all processes are ready.
 */
export function createRunFiles(dataDir: string): RunFiles {
  const endpointsPath = endpointsFile(dataDir)
  const markFile = join(dataDir, 'running')
  const previousRunWasKilled = existsSync(markFile)
  const mark = previousRunWasKilled ? readFileSync(markFile, 'utf8') : ''
  const [, previousPort] = /^\d+ (\d+)$/m.exec(mark) ?? []
  rmSync(endpointsPath, { force: true })
  writeFileSync(markFile, `${process.pid}\n`)
  return {
    previousRunWasKilled,
    previousEnginePort: previousPort === undefined ? undefined : Number(previousPort),
    noteEnginePort: (port) => writeFileSync(markFile, `${process.pid} ${port ?? ''}\n`),
    writeEndpoints: (endpoints) => writePrivateJson(endpointsPath, endpoints),
    remove() {
      rmSync(endpointsPath, { force: true })
      rmSync(markFile, { force: true })
    },
  }
}
