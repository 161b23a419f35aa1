import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Capability } from '../src/adapter.ts'
import type { Flaw } from './flaws.ts'
import { startReferenceAdapter } from './reference-adapter.ts'

/** Starts the reference sender, or one with a flaw, and returns the URL of its adapter. */
export async function startSender(
  t: Test,
  options: { flaw?: Flaw; capabilities?: Capability[]; sendsAtStart?: boolean } = {},
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'intake-reference-sender-'))
  const adapter = await startReferenceAdapter({ folder, ...options })
  t.teardown(async () => {
    await adapter.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return adapter.url
}
