import type { ClickHouse } from '@intake/clickhouse'
import { alterStored, crashText } from '@intake/schema'
import { exampleOf } from '../alerts/known-crashes.ts'
import { recordCondition, type Subject } from './subject.ts'

/** The table whose rows may have the stack trace of a crash that is erased. */
export const exampleTable = 'alerts_raw'

/**
 * Starts to remove the subject's stack traces from the states of alerts. It finds them by the stored
 * crashes, so it must run before these are deleted. ClickHouse keeps the text of mutations, so that
 * names alerts only.
 */
export async function eraseExamples(
  clickhouse: Pick<ClickHouse, 'query' | 'command' | 'cluster'>,
  subject: Subject,
): Promise<void> {
  const { sql, params } = recordCondition(subject)
  const change = "concat(id, ' ', toString(change))"
  const found = await clickhouse.query<{ change: string }>(
    `SELECT DISTINCT ${change} AS change FROM intake.${exampleTable}
     WHERE detail != '' AND detail IN (
       SELECT ${exampleOf(crashText)} FROM intake.logs_raw WHERE event = 'crash' AND ${sql})`,
    params,
  )
  if (found.length === 0) return
  await clickhouse.command(
    alterStored(
      clickhouse,
      exampleTable,
      `UPDATE detail = '' WHERE ${change} IN {changes:Array(String)} SETTINGS mutations_sync = 0`,
    ),
    { changes: found.map((row) => row.change) },
  )
}
