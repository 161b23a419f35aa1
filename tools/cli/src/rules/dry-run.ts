import {
  concerns,
  conditionNames,
  conditions,
  type RuleChoice,
  type RuleMatch,
} from '@intake/access'
import type { ClickHouse, QueryParams } from '@intake/clickhouse'
import { deviceFields, documentedDeviceFields, kinds, type RecordKind } from '@intake/contract'

interface Met {
  records: number
  devices: number
  not_stored: number
}

/** How many stored records of the last day a rule would have acted on. */
export interface DryRun extends Met {
  /** The counts of each version, most records first. An unknown version is null. */
  by_version: (Met & { version_code: number | null; version_name: string | null })[]
}

interface Condition {
  sql: string
  params: QueryParams
}

/** A sampled event counts for all that it represents. What other rules dropped is not stored. */
export async function dryRun(
  clickhouse: Pick<ClickHouse, 'query'>,
  choice: RuleChoice,
): Promise<DryRun> {
  const terms = [...matchConditions(choice.match), ...pathConditions(choice)]
  const params: QueryParams = { rate: choice.rate ?? 0 }
  for (const term of terms) Object.assign(params, term.params)
  const where = terms.map(({ sql }) => sql).join(' AND ') || 'true'
  const met = kinds
    .filter((kind) => concerns(choice, kind))
    .map((kind) => recordsOf(kind, where))
    .join(' UNION ALL ')
  // Groups by device first, because each device counts once, even if it has many records.
  const count = (columns: string, order: string) => `
    SELECT ${columns} round(sum(of_device)) AS records, round(sum(like_it)) AS devices,
      round(sumIf(of_device, ${notStored(choice)})) AS not_stored
    FROM (
      SELECT ${columns} device_uuid, sum(weight) AS of_device, max(weight) AS like_it
      FROM (${met}) GROUP BY ALL
    )
    GROUP BY ALL ${order}`
  const [all, byVersion] = await Promise.all([
    clickhouse.query<Met>(count('', ''), params),
    clickhouse.query<DryRun['by_version'][number]>(
      count('version_code, version_name,', 'ORDER BY records DESC, version_code, version_name'),
      params,
    ),
  ])
  const { records = 0, devices = 0, not_stored = 0 } = all[0] ?? {}
  return { records, devices, not_stored, by_version: byVersion }
}

/** A `time` may be 30 days before the arrival or 10 minutes after it; there is a margin. */
const recordsOf = (kind: RecordKind, where: string) => `
  SELECT device.version_code AS version_code, device.version_name AS version_name, device_uuid,
    ${kind === 'logs' ? '1 / sample_rate' : 'toFloat64(1)'} AS weight
  FROM intake.${kind}
  WHERE received_at >= now64(3, 'UTC') - INTERVAL 1 DAY
    AND time >= now64(3, 'UTC') - INTERVAL 32 DAY AND time <= now64(3, 'UTC') + INTERVAL 1 HOUR
    AND ${where}`

function notStored({ action }: RuleChoice): string {
  if (action === 'sample') {
    return 'murmurHash3_32(toString(device_uuid)) / 4294967296 >= {rate:Float64}'
  }
  return action === 'drop' ? 'true' : 'false'
}

const matchConditions = (match: RuleMatch): Condition[] =>
  conditionNames.flatMap((name) => {
    const { sql } = conditions[name]
    const value = match[name]
    return sql === undefined || value === undefined ? [] : [{ sql, params: { [name]: value } }]
  })

/** The condition that a record has the field that the rule would remove or hash. */
function pathConditions({ path }: RuleChoice): Condition[] {
  if (path === undefined) return []
  const dot = path.indexOf('.')
  const [part, field] = [path.slice(0, dot), path.slice(dot + 1).replaceAll('%2E', '.')]
  const within = (column: string) =>
    `arrayExists(one -> one = {field:String} OR startsWith(one, concat({field:String}, '.')), arrayMap(one -> replaceAll(one, '%2E', '.'), JSONAllPaths(${column})))`
  if (part !== 'device') return [{ sql: within(part), params: { field } }]
  // Also searches `device_extra`, because an invalid date is stored there, under the same name.
  const sql = documentedDeviceFields.has(field)
    ? `(${within('device_extra')} OR ${isSent(field)})`
    : within('device_extra')
  return [{ sql, params: { field } }]
}

const listFields: ReadonlySet<string> = new Set(
  deviceFields.filter(({ kind }) => kind === 'texts').map(({ name }) => name),
)

const isSent = (field: string) =>
  listFields.has(field) ? `notEmpty(device.${field})` : `device.${field} IS NOT NULL`
