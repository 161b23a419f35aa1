import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Stops everything that was started, in reverse order, once: at the end, on failure, on a signal.
 */
export interface Owner {
  add(end: () => Promise<unknown>): void
  /** Aborted when stopping begins, so that pending starts give up. */
  signal: AbortSignal
  end(): Promise<void>
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function createOwner(): Owner {
  const ends: (() => Promise<unknown>)[] = []
  const controller = new AbortController()
  let ending: Promise<void> | undefined

  async function endAll(): Promise<void> {
    controller.abort(new Error('interrupted'))
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      await end().catch((error: unknown) => console.error(error))
    }
  }

  return {
    add: (end) => void ends.push(end),
    signal: controller.signal,
    end: () => (ending ??= endAll()),
  }
}

/**
 * Runs `work` with an owner that is ended afterwards, also on Ctrl-C, SIGTERM and when the terminal
 * closes, and with an empty directory that is removed last.
 */
export async function withOwner<T>(
  work: (owner: Owner, dataDir: string) => Promise<T>,
): Promise<T> {
  const owner = createOwner()
  const dataDir = mkdtempSync(join(tmpdir(), 'intake-bench-'))
  owner.add(() => rm(dataDir, { recursive: true, force: true }))
  const interrupt = () => {
    void owner.end().then(() => process.exit(130))
  }
  for (const signal of endingSignals) process.once(signal, interrupt)
  try {
    return await work(owner, dataDir)
  } finally {
    await owner.end()
    for (const signal of endingSignals) process.off(signal, interrupt)
  }
}
