import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver } from './driver.ts'
import type { ClientProcess } from './start-process.ts'

/** Drives a client that runs in a process of its own. `kill` ends the process by a signal. */
export function createProcessDriver(name: string, start: () => ClientProcess): Driver {
  const dir = mkdtempSync(join(tmpdir(), 'intake-client-'))
  const storage = join(dir, 'storage')
  let current: ClientProcess | undefined

  function running(): ClientProcess {
    if (current === undefined) throw new Error('it was not started')
    return current
  }

  async function kill(): Promise<void> {
    const killed = current
    current = undefined
    await killed?.kill()
  }

  return {
    name,
    capabilities: ['feedback', 'batch', 'clock', 'bounds', 'storageFull', 'optOut'],
    async init({ clockOffsetMs = 0, storageFull = false, ...options }) {
      await kill()
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
