import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/**
 * Creates an empty directory that is removed when the test ends. Teardowns that were registered
 * later run first, so services in the directory have been stopped by then. (`t.testdir()` is
 * removed before any teardown runs.) A last write of what has just been stopped does not fail the
 * removal, which is repeated.
 */
export function createDataDir(t: Pick<Test, 'teardown'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'intake-test-'))
  t.teardown(() => rm(dir, { recursive: true, force: true, maxRetries: 9 }))
  return dir
}
