import { createWaitingEntries, journalActions } from '@intake/access'
import { readJournal, type StoredEntry } from '@intake/records'
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
      const waiting = await withRedis((redis) => createWaitingEntries({ redis }).peek(waitingMax))
      const rows = waiting.map((row) => JSON.parse(row) as StoredEntry)
      const [stored] = await Promise.allSettled([
        withClickHouse((clickhouse) => readJournal(clickhouse, since), {
          requestTimeoutMs: timeoutMs,
        }),
      ])
      const known = stored.status === 'fulfilled' ? stored.value : []
      const ids = new Set(known.map(({ id }) => id))
      const entries = [
        ...known,
        ...rows.filter(({ id, at }) => !ids.has(id) && Date.parse(at) >= since.getTime()),
      ]
      if (json) {
        printJson(entries.map(({ detail, ...entry }) => ({ ...entry, detail: JSON.parse(detail) })))
      } else if (entries.length === 0 && stored.status === 'fulfilled')
        note('There are no changes.')
      else for (const { at, who, action, subject } of entries) printRow([at, action, subject, who])
      if (stored.status === 'fulfilled') return
      const { message } = stored.reason as Error
      throw new UsageError(
        `ClickHouse does not respond (${message}): these are only the changes that wait in Redis.`,
      )
    })
}
