import type { ClickHouse } from '@intake/clickhouse'
import { setTimeout as sleep } from 'node:timers/promises'
import { feedbackSelect, logsSelect, type Fleet } from './fleet.ts'

const rowsPerInsert = 100_000
const repeatedAfter = 3
const settleTimeoutMs = 900_000

const head = `id, time, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id, request_id, device,
  device_extra, client_timestamp, extra`
export const logColumns = `${head}, event, params`
const feedbackColumns = `${head}, feedback_id, email, text, attachments`

/**
 * Writes the fleet's events in the order of their arrival, one in a hundred a second time, and its feedback.
 * Resolves when ClickHouse has nothing more to merge.
 */
export async function load(
  sql: ClickHouse,
  options: { fleet: Fleet; progress(rows: number): void },
): Promise<void> {
  const { fleet, progress } = options
  for (let from = 0; from < fleet.rows; from += rowsPerInsert) {
    const range = { from, to: Math.min(fleet.rows, from + rowsPerInsert) }
    const insertLogs = `INSERT INTO intake.logs_raw (${logColumns})`
    await sql.command(`${insertLogs} ${logsSelect(fleet, { ...range, repeated: false })}`)
    await sql.command(`INSERT INTO intake.feedback_raw (${feedbackColumns})
SELECT ${feedbackColumns} FROM (${feedbackSelect(fleet, range)})`)
    const earlier = from - repeatedAfter * rowsPerInsert
    if (earlier >= 0) {
      const repeat = { from: earlier, to: earlier + rowsPerInsert, repeated: true }
      await sql.command(`${insertLogs} ${logsSelect(fleet, repeat)}`)
    }
    if ((from / rowsPerInsert) % 20 === 19) progress(range.to)
  }
  await untilMerged(sql)
}

/** Resolves when no merge has run for two seconds. */
export async function untilMerged(sql: ClickHouse): Promise<void> {
  const deadline = performance.now() + settleTimeoutMs
  for (let quiet = 0; quiet < 4;) {
    if (performance.now() > deadline) throw new Error('ClickHouse did not stop merging')
    const [row] = await sql.query<{ merges: number }>('SELECT count() AS merges FROM system.merges')
    quiet = row?.merges === 0 ? quiet + 1 : 0
    await sleep(500)
  }
}
