import { randomUUID } from 'node:crypto'
import type { Redis } from '@intake/redis'
import type { JournalAction } from './actions.ts'

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

const removeScript = `
for _, row in ipairs(ARGV) do
  if redis.call('LINDEX', KEYS[1], 0) == row then redis.call('LPOP', KEYS[1]) end
end`

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
    await redis.eval(removeScript, 1, journalKey, ...rows)
  },
})
