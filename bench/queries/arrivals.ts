import type { ClickHouse } from '@intake/clickhouse'
import { setTimeout as sleep } from 'node:timers/promises'
import { logsSelect, type Fleet } from './fleet.ts'
import { logColumns } from './load.ts'

const everyMs = 1_000
/** The share of the fleet's events that arrives per second: 1,000 of 20 million. */
const shareOfFleet = 1 / 20_000

/**
 * Runs `work` while events keep arriving, in one insert per second. 15 % of the events are up to an
 * hour late, and 3 % up to ten days. Rejects if an insert fails.
 */
export async function whileEventsArrive<T>(
  sql: ClickHouse,
  fleet: Fleet,
  work: () => Promise<T>,
): Promise<{ result: T; rows: number }> {
  const rowsPerInsert = Math.ceil(fleet.rows * shareOfFleet)
  const ended = new AbortController()
  let rows = 0
  async function arrive(): Promise<void> {
    while (!ended.signal.aborted) {
      const from = fleet.rows + rows
      const range = { from, to: from + rowsPerInsert, repeated: false }
      await sql.command(`INSERT INTO intake.logs_raw (${logColumns}) ${logsSelect(fleet, range)}`)
      rows += rowsPerInsert
      await sleep(everyMs, undefined, { signal: ended.signal }).catch(() => {})
    }
  }
  const arriving = arrive()
  // If an insert fails, `await arriving` below rejects. Until then the promise needs a handler,
  // because Node would otherwise end the process.
  arriving.catch(() => {})
  let result: T
  try {
    result = await work()
  } finally {
    ended.abort()
    await arriving
  }
  return { result, rows }
}
