import { ownerOf, sqlTime } from '@intake/clickhouse'
import { hourMs } from '@intake/contract'
import { type RecordReader } from './records.ts'

/** Reads counts of events, from what was counted before or from the records themselves. */
export interface CountReader extends RecordReader {
  /** SQL for what names an application in the API keys (`ownerOf`). */
  owner: string
  /** SQL for a table like `intake.hours`. */
  hours: string
  /** SQL for a table with the columns `bundle_identifier`, `hour`, `version_name` and `device`. */
  deviceHours: string
  devices: string
  /** Whether all counts are made from the records, so that they are never behind. */
  isExact: boolean
}

/** With fewer events than this, every view counts the records themselves. */
const smallMax = 100_000

export async function readIsSmall(reader: RecordReader): Promise<boolean> {
  const [row] = await reader.query<{ records: number }>(
    // Small blocks, because ClickHouse reads some of each part before the limit ends the query.
    `SELECT count() AS records FROM (SELECT 1 FROM intake.logs LIMIT ${smallMax}) SETTINGS max_block_size = 1024`,
  )
  return (row?.records ?? 0) < smallMax
}

/**
 * @param options.scopes the applications that API keys name, and prefixes that end in `.*`
 * @param options.isSmall whether all counts come from the records
 * @param options.recordsFromMs counts of the hours since this time come from the records, because
 * stored counts have whole hours only; the period after it must be short
 */
export function countReader(
  { query, lines }: RecordReader,
  options: { isSmall: boolean; scopes?: readonly string[]; recordsFromMs?: number | undefined },
): CountReader {
  const { isSmall, scopes = [], recordsFromMs = 0 } = options
  const shared = { query, lines, owner: ownerOf(scopes) }
  const stored = { hours: 'intake.hours', deviceHours: 'intake.device_hours' }
  if (!isSmall && recordsFromMs === 0) {
    return { ...shared, ...stored, devices: 'intake_devices(devices_state)', isExact: false }
  }
  const fromMs = Math.floor(recordsFromMs / hourMs) * hourMs
  const from = `CAST('${sqlTime(new Date(fromMs))}', 'DateTime64(3, \\'UTC\\')')`
  const since = isSmall ? '' : `WHERE time >= ${from}`
  const version = "ifNull(device_version_name, '') AS version_name"
  const records = `SELECT bundle_identifier, time AS hour, event, device_version_code AS version_code,
    ${version}, 1 AS events FROM intake.logs_flat ${since}`
  const before = `SELECT * FROM ${stored.hours} WHERE hour < ${from}`
  return {
    ...shared,
    hours: isSmall ? `(${records})` : `(${before} UNION ALL ${records})`,
    deviceHours: `(SELECT bundle_identifier, time AS hour, ${version}, device_uuid FROM intake.logs_flat ${since})`,
    devices: isSmall ? 'uniqExact(device_uuid)' : 'uniqCombined64(12)(device_uuid)',
    isExact: true,
  }
}
