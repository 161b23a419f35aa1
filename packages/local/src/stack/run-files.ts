import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointsFile, type Endpoints } from '@intake/runtime'
import { writePrivateJson } from './private-json.ts'

export interface RunFiles {
  /** True if the previous run was killed, so that its processes may still be ending. */
  previousRunWasKilled: boolean
  writeEndpoints(endpoints: Endpoints): void
  remove(): void
}

/**
 * Creates the files that exist only during a run: a marker file from its beginning, and
 * `endpoints.json` from the moment when all processes are ready.
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
