import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/**
 * Creates an empty directory. It is removed when the test ends, after all teardowns that were
 * registered later, so services in the directory have been stopped by then. (`t.testdir()` is
 * removed before any teardown runs.)
 */
export function createDataDir(t: Pick<Test, 'teardown'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'intake-test-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  return dir
}
