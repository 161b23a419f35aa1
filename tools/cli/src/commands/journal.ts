import { createWaitingEntries, journalActions } from '@intake/access'
import { readJournal, type StoredEntry } from '@intake/records'
import type { Redis } from '@intake/redis'
import type { Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { note, printJson, printRow } from '../print.ts'
import { timeOption } from '../option-values.ts'
import { withRedis } from '../with-redis.ts'

const timeoutMs = 10_000
/** More changes than operators make while ClickHouse is down. */
const waitingMax = 10_000

const actions = Object.entries(journalActions)
  .map(([action, subject]) => `${action.padEnd(24)}${subject}`)
  .join('\n')

export function define(journal: Command): void {
  journal
    .option(
      '--since <time>',
      'only from this time on (ISO 8601, UTC unless it has an offset)',
      timeOption,
    )
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      `
Every change that a command makes is one entry: when, who, what, and its subject. Whoever changes Redis or ClickHouse
without intake leaves none. The details are JSON, without secrets and without people, who are hashes.

${actions}`,
    )
    .action(async ({ since = new Date(0), json }: { since?: Date; json?: boolean }) => {
      // Redis first: an entry that is moved meanwhile is then found in ClickHouse.
      const waiting = await withRedis(readWaiting)
      const stored = await withClickHouse((clickhouse) => readJournal(clickhouse, since), {
        requestTimeoutMs: timeoutMs,
      }).catch((error: Error) => error)
      const known = stored instanceof Error ? [] : stored
      const ids = new Set(known.map(({ id }) => id))
      const isMissing = ({ id, at }: StoredEntry) => !ids.has(id) && Date.parse(at) >= +since
      const entries = [...known, ...waiting.filter(isMissing)]
      if (json) {
        printJson(entries.map(({ detail, ...entry }) => ({ ...entry, detail: JSON.parse(detail) })))
      } else {
        for (const { at, who, action, subject } of entries) printRow([at, action, subject, who])
      }
      if (stored instanceof Error)
        throw new UsageError(
          `ClickHouse does not respond (${stored.message}): these are only the changes that wait in Redis.`,
        )
      if (!json && entries.length === 0) note('There are no changes.')
    })
}

const readWaiting = async (redis: Redis) =>
  (await createWaitingEntries({ redis }).peek(waitingMax)).map(
    (row) => JSON.parse(row) as StoredEntry,
  )
