import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointsFile } from '@intake/runtime'
import type { Endpoints } from '@intake/runtime/endpoints'
import { writePrivateJson } from './private-json.ts'

export type RunFiles = ReturnType<typeof createRunFiles>

/**
 * `running` remains if the stack is killed; `endpoints.json` exists while all processes are ready.
 */
export function createRunFiles(dataDir: string) {
  const endpointsPath = endpointsFile(dataDir)
  const markFile = join(dataDir, 'running')
  const previousRunWasKilled = existsSync(markFile)
  rmSync(endpointsPath, { force: true })
  writeFileSync(markFile, `${process.pid}\n`)
  return {
    /** Whether processes of the previous run may still be ending. */
    previousRunWasKilled,
    writeEndpoints: (endpoints: Endpoints) => writePrivateJson(endpointsPath, endpoints),
    remove() {
      rmSync(endpointsPath, { force: true })
      rmSync(markFile, { force: true })
    },
  }
}
