import type { Cluster } from './cluster.ts'
import type { Violations } from './violations.ts'

/**
 * The kind of a row, and the time when the part with the row was stored, in seconds since 1970.
 * Merges are off, so a row stays in the part in which it was inserted.
 */
interface StoredAt {
  kind: string
  storedAt: number
}

const parts = (table: string) => `(SELECT name, toUnixTimestamp(modification_time) AS seconds
  FROM system.parts WHERE database = 'intake' AND table = '${table}' AND active)`

/**
 * Selects the records. If a record was stored several times, `storedAt` is the time of its first
 * insert. `receivedAtMs` is the arrival of its last attempt, because earlier attempts may not have
 * been acknowledged.
 */
const records = (kind: string) => `SELECT '${kind}' AS kind, toString(id) AS id,
    max(toUnixTimestamp64Milli(received_at)) AS receivedAtMs, min(p.seconds) AS storedAt
  FROM intake.${kind}_raw AS raw JOIN ${parts(`${kind}_raw`)} AS p ON p.name = raw._part
  WHERE api_key_id != 'key_faults' GROUP BY id`

/**
 * Checks every watermark that was ever stored. When it was stored, each acknowledged record with an
 * earlier `received_at` must have been in the table already.
 */
export async function checkWatermark(
  { sql }: Cluster,
  { acknowledged, violations }: { acknowledged: ReadonlySet<string>; violations: Violations },
): Promise<void> {
  const marks = await sql.query<StoredAt & { untilMs: number }>(
    `SELECT raw.kind AS kind, toUnixTimestamp64Milli(visible_until) AS untilMs, p.seconds AS storedAt
     FROM intake.watermark_raw AS raw JOIN ${parts('watermark_raw')} AS p ON p.name = raw._part`,
  )
  const rows = await sql.query<StoredAt & { id: string; receivedAtMs: number }>(
    `${records('logs')} UNION ALL ${records('feedback')}`,
  )
  for (const { kind, id, receivedAtMs, storedAt } of rows) {
    if (!acknowledged.has(id)) continue
    const early = marks.find(
      (mark) => mark.kind === kind && receivedAtMs < mark.untilMs && storedAt > mark.storedAt,
    )
    if (early === undefined) continue
    const aheadMs = early.untilMs - receivedAtMs
    violations.add('stored after the watermark', `${id}: ${aheadMs} ms, ${storedAt} s`)
  }
}
