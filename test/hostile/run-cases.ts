import { join } from 'node:path'
import type { HostileCase } from './hostile-case.ts'
import type { Result } from './result.ts'
import { runCase } from './run-case.ts'
import { startStage, type Stage } from './stage.ts'

/**
 * Runs cases one after another on the same services. Starts new services after a case whose state
 * could make the next case fail.
 */
export async function runCases(options: {
  cases: HostileCase[]
  dir: string
  root: string
  records: number
  slowestMsMax: number
  onResult: (result: Result) => void
}): Promise<void> {
  const { cases, dir, root, onResult } = options
  let stage: Stage | undefined
  try {
    for (const [index, hostile] of cases.entries()) {
      const run = index + 1
      const started = performance.now()
      stage ??= await startStage({ dir: join(dir, `stage-${run}`), root })
      let result: Result
      try {
        result = await runCase(hostile, { ...options, stage, run })
      } catch (error) {
        const ms = Math.round(performance.now() - started)
        result = { id: hostile.id, title: hostile.title, reasons: [describe(error)], ms }
      }
      onResult(result)
      // Closes the services, so that the next case starts new ones. After a failed case, the old
      // state could make the next case fail, too.
      if (result.seen === undefined || result.seen.violations.length > 0) {
        await stage.cluster.close()
        stage = undefined
      }
    }
  } finally {
    await stage?.cluster.close()
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message} (${describe(error.cause)})`
}
