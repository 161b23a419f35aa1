import { closeSync, fdatasync, openSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import type { AttemptOutcome } from './sender.ts'

const sync = promisify(fdatasync)

/**
 * The start or the outcome of an attempt to send a record. `ms` is the response time, less the time
 * for which the service waited for a CPU.
 */
export type Event = { seq: number; attempt: number } & (
  | { is: 'issued'; keyed: boolean; kind: 'logs' | 'feedback' }
  | (AttemptOutcome & { ms: number })
)

export interface History {
  events: Event[]
  /** Resolves when the event is on disk. */
  append(event: Event): Promise<void>
  close(): Promise<void>
}

/**
 * Opens an append-only file of JSON lines. Lines that are appended while a sync to disk is in
 * progress wait for the next sync, which writes all of them together.
 */
export function openHistory(file: string): History {
  const descriptor = openSync(file, 'a')
  const events: Event[] = []
  let lines: string[] = []
  let next: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()

  async function write(after: Promise<void>): Promise<void> {
    await after
    next = undefined
    const text = lines.join('')
    lines = []
    writeSync(descriptor, text)
    await sync(descriptor)
  }

  return {
    events,
    append(event) {
      events.push(event)
      lines.push(`${JSON.stringify(event)}\n`)
      next ??= last = write(last)
      return next
    },
    async close() {
      await last
      closeSync(descriptor)
    },
  }
}
