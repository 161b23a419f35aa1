import { selectInTurns } from '@intake/clickhouse'
import { withTimeout } from '@intake/runtime'
import type { Cache } from '../cached.ts'
import type { CountReader } from './count-reader.ts'
import { inMonth } from './records.ts'

/** How long the first view waits for the list. Later views show the former list at once. */
const firstWaitMs = 500
const applicationsMax = 50

/**
 * The applications of the last 30 days, those with most events first. While ClickHouse does not
 * respond it is the list of a former view, so no view waits longer than half a second.
 */
export function createKnownApplications(
  counts: () => Promise<CountReader>,
  cached: Cache,
): () => Promise<readonly string[]> {
  let known: readonly string[] | undefined
  async function read(): Promise<void> {
    const reader = await counts()
    const rows = await reader.query<{ bundle_identifier: string }>(
      selectInTurns(
        `SELECT bundle_identifier, sum(events) AS number FROM (
           SELECT bundle_identifier, events FROM ${reader.hours} WHERE ${inMonth}
           UNION ALL
           SELECT bundle_identifier, 0 FROM intake.feedback WHERE time >= now('UTC') - INTERVAL 30 DAY)
         GROUP BY bundle_identifier`,
        {
          application: reader.owner,
          order: 'number DESC, bundle_identifier',
          rowsMax: applicationsMax,
        },
      ),
    )
    known = rows.map((row) => row.bundle_identifier)
  }
  return async () => {
    const reading = cached('applications', read).catch(() => {})
    if (known === undefined)
      await withTimeout(reading, firstWaitMs, 'reading the applications').catch(() => {})
    return known ?? []
  }
}
