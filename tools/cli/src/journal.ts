import { hostname, userInfo } from 'node:os'
import { createWaitingEntries, type JournalEntry } from '@intake/access'
import type { ClickHouse } from '@intake/clickhouse'
import { readInstallation, type Redis } from '@intake/redis'

const storeTimeoutMs = 3_000

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

/**
 * Moves the waiting entries to ClickHouse, so that they can be queried at once. If ClickHouse does
 * not respond within three seconds, a worker moves them later.
 */
export async function storeEntries(redis: Redis): Promise<void> {
  const { withClickHouse } = await import('./clickhouse.ts')
  const { moveToJournal } = await import('@intake/records')
  const { requireSameInstallation } = await import('@intake/schema')
  const waiting = createWaitingEntries({ redis })
  const signal = AbortSignal.timeout(storeTimeoutMs)
  const move = async (store: ClickHouse) => {
    await requireSameInstallation(await readInstallation(redis), store)
    await moveToJournal({ waiting, store, signal })
  }
  await withClickHouse(move, { requestTimeoutMs: storeTimeoutMs }).catch(() => {})
}
