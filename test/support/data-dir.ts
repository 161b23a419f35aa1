import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/**
 * An empty directory that goes when the test ends, after every teardown that is registered later:
 * what is started on it is stopped before. (`t.testdir()` is removed before any teardown runs.)
 */
export function createDataDir(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'intake-test-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  return dir
}
