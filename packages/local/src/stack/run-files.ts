import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointsFile } from '@intake/runtime'
import type { Endpoints } from '@intake/runtime/endpoints'
import { writePrivateJson } from './private-json.ts'

export interface RunFiles {
  /** Whether the previous run of the stack was killed. Its processes may then still be ending. */
  previousRunWasKilled: boolean
  writeEndpoints(endpoints: Endpoints): void
  remove(): void
}

/**
 * Creates the file `running`, which remains if the stack is killed. When all processes are ready,
 * the caller creates `endpoints.json` with `writeEndpoints`. `remove` deletes both files.
 */
export function createRunFiles(dataDir: string): RunFiles {
  const endpointsPath = endpointsFile(dataDir)
  const markFile = join(dataDir, 'running')
  const previousRunWasKilled = existsSync(markFile)
  rmSync(endpointsPath, { force: true })
  writeFileSync(markFile, `${process.pid}\n`)
  return {
    previousRunWasKilled,
    writeEndpoints: (endpoints) => writePrivateJson(endpointsPath, endpoints),
    remove() {
      rmSync(endpointsPath, { force: true })
      rmSync(markFile, { force: true })
    },
  }
}
