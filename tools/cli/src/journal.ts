import { hostname, userInfo } from 'node:os'
import { createWaitingEntries, type JournalEntry } from '@intake/access'
import type { Redis } from '@intake/redis'

export function operator(): string {
  return `${userName()}@${hostname()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user that has no name.
    return `uid ${process.getuid?.()}`
  }
}

/**
 * Adds an entry to the journal. A command calls this just before it makes a change that is not one
 * step in Redis, so that no such change is without an entry. A worker moves the entry to ClickHouse.
 */
export async function noteChange(redis: Redis, entry: Omit<JournalEntry, 'who'>): Promise<void> {
  await createWaitingEntries({ redis }).add({ ...entry, who: operator() })
}

/** Returns a function that adds an entry when it is first called: until then nothing is changed. */
export function noteOnce(note: () => Promise<void>): () => Promise<void> {
  let noted: Promise<void> | undefined
  return () => (noted ??= note())
}
