import type { ClickHouse } from '@intake/clickhouse'
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMs } from '@intake/contract'
import { feedbackSelect, logsSelect, type Fleet } from './fleet.ts'

const settleTimeoutMs = 900_000
/** So many times the events are the same, in other days: copying them is quicker than making them. */
const copies = 20
const rowsPerInsert = 100_000

const head = `id, time, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id, request_id, device,
  device_extra, client_timestamp, extra`
const columns = {
  logs: `${head}, event, params`,
  feedback: `${head}, feedback_id, email, text, attachments`,
} as const

/**
 * Writes the fleet's events and its feedback, the earliest first. One event in a hundred is written
 * twice. Resolves when ClickHouse has finished its merges.
 */
export async function load(
  sql: ClickHouse,
  options: { fleet: Fleet; progress(rows: number): void },
): Promise<void> {
  const { fleet, progress } = options
  const [rows, days] = [fleet.rows / copies, fleet.days / copies]
  const one = { ...fleet, rows, days }
  for (const table of ['logs', 'feedback'] as const) {
    const made = `intake.${table}_made`
    await sql.command(
      `CREATE TABLE ${made} ENGINE = MergeTree ORDER BY () AS SELECT * FROM intake.${table}_raw WHERE 0`,
    )
    for (let from = 0; from < rows; from += rowsPerInsert) {
      const range = { from, to: Math.min(rows, from + rowsPerInsert) }
      const insert = (select: string) =>
        sql.command(
          `INSERT INTO ${made} (${columns[table]}) SELECT ${columns[table]} FROM (${select})`,
        )
      if (table === 'feedback') await insert(feedbackSelect(one, range))
      else
        for (const repeated of [false, true]) await insert(logsSelect(one, { ...range, repeated }))
    }
    for (let copy = copies - 1; copy >= 0; copy--) {
      const shiftMs = Math.round(copy * days * dayMs)
      const earlier = (time: string) => `${time} - toIntervalMillisecond(${shiftMs}) AS ${time}`
      await sql.command(`INSERT INTO intake.${table}_raw (${columns[table]}) SELECT ${columns[table]} FROM (
        SELECT * REPLACE (${['time', 'received_at', 'client_timestamp'].map(earlier).join(', ')},
          reinterpretAsUUID(reinterpretAsUInt128(id) - bitShiftLeft(toUInt128(${shiftMs}), 16)) AS id)
        FROM ${made})`)
      if (table === 'logs') progress((copies - copy) * rows)
    }
    await sql.command(`DROP TABLE ${made}`)
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
