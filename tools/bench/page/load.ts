import type { ClickHouse } from '@intake/clickhouse'
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMs } from '@intake/contract'
import { feedbackSelect, logsSelect, type Fleet } from './fleet.ts'

const insertsMax = 200
const rowsPerInsertMin = 20_000
/** The repeat of an event is inserted this many inserts after the event. */
const repeatedAfter = 3
const settleTimeoutMs = 900_000

const head = `id, time, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id, request_id, device,
  device_extra, client_timestamp, extra`
const logColumns = `${head}, event, params`
const feedbackColumns = `${head}, feedback_id, email, text, attachments`

/**
 * Writes the fleet's events and its feedback in the order of their arrival. One event in a hundred
 * is written twice. Resolves when ClickHouse has finished its merges. If `logs_raw` is set to merge
 * idle months after a day, the merges of these months are included.
 */
export async function load(
  sql: ClickHouse,
  options: { fleet: Fleet; progress(rows: number): void },
): Promise<void> {
  const { fleet, progress } = options
  const rowsPerInsert = Math.max(rowsPerInsertMin, Math.ceil(fleet.rows / insertsMax))
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
    if ((from / rowsPerInsert) % 40 === 39) progress(range.to)
  }
  await untilMerged(sql)
  await mergeIdleMonths(sql, fleet)
}

/**
 * With some settings of the table, ClickHouse merges a month after a day without new rows. The
 * bench does not wait for a day. If the table has such settings, this function merges the months in
 * which nothing arrived on the last day of the fleet.
 */
async function mergeIdleMonths(sql: ClickHouse, fleet: Fleet): Promise<void> {
  const months = await sql.query<{ id: string }>(
    `SELECT _partition_id AS id FROM intake.logs_raw
WHERE (SELECT engine_full LIKE '%min_age_to_force_merge_seconds = 86400%' FROM system.tables
  WHERE database = 'intake' AND name = 'logs_raw')
GROUP BY id HAVING max(received_at) < fromUnixTimestamp64Milli(toInt64(${fleet.endMs - dayMs}))`,
  )
  for (const { id } of months) {
    await sql.command(`OPTIMIZE TABLE intake.logs_raw PARTITION ID '${id}' FINAL`)
  }
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
