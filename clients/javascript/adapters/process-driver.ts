import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver } from './driver.ts'
import type { ClientProcess } from './start-process.ts'

/**
 * Drives a client that runs in a process of its own. `kill` ends the process by a signal.
 *
 * @param more the capabilities besides those of every such client
 */
export function createProcessDriver(
  name: string,
  start: () => ClientProcess,
  more: readonly string[] = ['device'],
): Driver {
  const dir = mkdtempSync(join(tmpdir(), 'intake-client-'))
  const storage = join(dir, 'storage')
  let current: ClientProcess | undefined
  const { breakStorage, repairStorage } = breakable(storage, join(dir, 'aside'))

  function running(): ClientProcess {
    if (current === undefined) throw new Error('it was not started')
    return current
  }

  async function kill(): Promise<void> {
    const killed = current
    current = undefined
    await killed?.kill()
    repairStorage()
  }

  return {
    name,
    capabilities: [
      'feedback',
      'batch',
      'clock',
      'bounds',
      'storageFull',
      'storageFails',
      'optOut',
      'leavesOut',
      ...more,
    ],
    async init({ clockOffsetMs = 0, storageFull = false, storageFailsMs = 0, ...options }) {
      await kill()
      if (storageFailsMs > 0) breakStorage(storageFailsMs)
      current = start()
      writeFileSync(join(dir, 'file'), '')
      await current.call('init', {
        ...options,
        storage: storageFull ? join(dir, 'file', 'none') : storage,
        aheadMs: clockOffsetMs,
      })
    },
    clock: (offsetMs) => running().call('clock', offsetMs),
    log: (event, params) => running().call('log', event, params),
    logs: (count, event) => running().call('logs', 0, count, event),
    feedback: (text, email, attachments) => running().call('feedback', text, email, attachments),
    flush: (timeoutMs) => running().call('flush', timeoutMs),
    state: () => running().call('stats'),
    optOut: () => running().call('optOut'),
    optIn: () => running().call('optIn'),
    kill,
    async clear() {
      await kill()
      await rm(storage, { recursive: true, force: true })
    },
    async close() {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

function breakable(storage: string, aside: string) {
  let repair: NodeJS.Timeout | undefined

  /** Replaces the storage by a link to itself, so that every call fails with ELOOP. */
  function breakStorage(ms: number): void {
    if (existsSync(storage)) renameSync(storage, aside)
    symlinkSync(storage, storage)
    repair = setTimeout(repairStorage, ms)
  }

  function repairStorage(): void {
    if (repair === undefined) return
    clearTimeout(repair)
    repair = undefined
    rmSync(storage)
    if (existsSync(aside)) renameSync(aside, storage)
  }

  return { breakStorage, repairStorage }
}
