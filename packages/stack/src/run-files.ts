import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointsFile, type Endpoints } from '@intake/runtime'
import { writePrivateJson } from './private-json.ts'

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
