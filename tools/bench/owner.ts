import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOwner as createOwnerOf, type Owner as OwnerOf } from '@intake/runtime'

export interface Owner extends Pick<OwnerOf, 'add' | 'end'> {
  /** Aborted when `end` is called, so that pending starts give up. */
  signal: AbortSignal
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function createOwner(): Owner {
  const { add, end } = createOwnerOf((error) => console.error(error))
  const controller = new AbortController()
  return {
    add,
    signal: controller.signal,
    end() {
      controller.abort(new Error('interrupted'))
      return end()
    },
  }
}

/**
 * Runs `work` with an owner, to which `work` adds functions that end what it has started. The owner
 * calls them after `work`, and also on Ctrl-C, on SIGTERM and when the terminal closes. `work` also
 * gets an empty directory, which is removed last.
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
