import { journalActions } from '@intake/access'
import { isoTime, sqlTime } from '@intake/clickhouse'
import type { Command } from 'commander'
import { withClickHouse } from '../clickhouse.ts'
import { note, printJson, printRow } from '../print.ts'
import { timeOption } from '../option-values.ts'

/** `detail` is JSON. */
type StoredEntry = Record<'id' | 'at' | 'who' | 'action' | 'subject' | 'detail', string>

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
Every change that a command makes is one entry: when, who, what, and its subject. A worker moves it to ClickHouse
within seconds. Whoever changes Redis or ClickHouse without intake leaves none. The details are JSON, without secrets
and without people, who are hashes.

${actions}`,
    )
    .action(async ({ since = new Date(0), json }: { since?: Date; json?: boolean }) => {
      const entries = await withClickHouse((clickhouse) =>
        clickhouse.query<StoredEntry>(
          `SELECT id, at, who, action, subject, detail FROM intake.journal FINAL
           WHERE at >= {since:DateTime64(3, 'UTC')} ORDER BY at, id`,
          { since: sqlTime(since) },
        ),
      )
      const shown = entries.map((entry) => ({ ...entry, at: isoTime(entry.at) }))
      if (json) {
        return printJson(
          shown.map(({ detail, ...entry }) => ({ ...entry, detail: JSON.parse(detail) })),
        )
      }
      if (shown.length === 0) note('There are no changes.')
      for (const { at, who, action, subject } of shown) printRow([at, action, subject, who])
    })
}
