import { randomUUID } from 'node:crypto'
import type { Redis } from '@intake/redis'

/** What an operator can have done, with what an entry of the journal has as its subject. */
export const journalActions = {
  'redis-loss-accepted': 'intake setup --accept-empty-redis; subject: empty',
  'key-created': 'an API key, by its id',
  'key-set': 'an API key whose name, limits or scope changed',
  'key-suspended': 'an API key',
  'key-resumed': 'an API key',
  'key-revoked': 'an API key',
  'rule-added': 'a rule, by its id',
  'rule-removed': 'a rule',
  'alert-added': 'an alert, by its id',
  'alert-removed': 'an alert',
  'queue-paused': 'a queue: logs, feedback or outcomes',
  'queue-resumed': 'a queue',
  'dead-letters-replayed': 'a dead letter, by its id, or all',
  'dead-letters-dropped': 'a dead letter, or all',
  'sender-suppressed': 'a user or device, as a hash',
  'sender-unsuppressed': 'a user or device, as a hash',
  'erasure-begun': 'a user, device or API key, as a hash; empty: what has reappeared',
  'retention-set': 'logs, feedback, dead-letters or counts',
  'retention-applied': 'what was older than its retention; subject: empty',
  'analyst-created': 'an analyst, by name',
  'analyst-set': 'an analyst',
  'analyst-password-set': 'an analyst',
  'analyst-removed': 'an analyst',
  'records-exported': 'a target, as in --to',
  'records-imported': 'an application',
  'subject-exported': 'a user or device, as a hash',
} as const

export type JournalAction = keyof typeof journalActions

/** An entry of `intake.journal`: what an operator has changed. It contains no secret and no person. */
export interface JournalEntry {
  /** Who made the change: user and machine, or what `--by` said. */
  who: string
  action: JournalAction
  /** The id of what was changed. */
  subject: string
  detail: object
}

/**
 * The key of a Redis list with the entries that are not in ClickHouse yet, as rows of the table, in
 * the order of the changes. A change in Redis adds its entry in the same step. So an entry exists
 * if and only if the change was made, also while ClickHouse is down.
 */
export const journalKey = '{intake}:journal'

/** Prints an entry as a row, with an id of its own: however often a row is stored, it counts once. */
export const printEntry = ({ who, action, subject, detail }: JournalEntry): string =>
  JSON.stringify({
    id: randomUUID(),
    at: new Date().toISOString(),
    who,
    action,
    subject,
    detail: JSON.stringify(detail),
  })

/** Entries that wait in Redis until they are in ClickHouse. */
export const createWaitingEntries = ({ redis }: { redis: Redis }) => ({
  /** Adds the entry of a change that is not made in Redis, or not in one step. */
  async add(entry: JournalEntry): Promise<void> {
    await redis.rpush(journalKey, printEntry(entry))
  },
  /** Resolves to the oldest rows, at most `max`. */
  peek: (max: number): Promise<string[]> => redis.lrange(journalKey, 0, max - 1),
  /**
   * Removes the rows that `peek` returned, after they were stored. Another process may have removed
   * them; no other row is removed.
   */
  async remove(rows: readonly string[]): Promise<void> {
    await Promise.all(rows.map((row) => redis.lrem(journalKey, 1, row)))
  },
})
