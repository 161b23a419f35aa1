import { rawTables, type ClickHouse } from '@intake/clickhouse'
import { storedTable } from '../cluster/names.ts'

/** Otherwise a power failure could lose a confirmed insert, or a repeat be left out. */
const required = {
  fsync_after_insert: '1',
  fsync_part_directory: '1',
  non_replicated_deduplication_window: '0',
  replicated_deduplication_window: '0',
}
/** Tables whose rows exist nowhere else after ClickHouse has confirmed their insert. */
const guarded = [rawTables.logs, rawTables.feedback, rawTables.dead_letters, rawTables.outcomes]
const gibibyte = 1024 ** 3
/** Enough for merges, for queries, and for inserts of 64 MiB of rows. */
const memoryBytesMin = gibibyte

/** What is not as required, in words for an operator; empty if nothing is. */
export async function findSettingViolations(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
): Promise<string[]> {
  const names = guarded.map(({ name }) => storedTable(clickhouse, name.replace('intake.', '')))
  const tables = await clickhouse.query<{ name: string; engine: string }>(
    `SELECT name, engine_full AS engine FROM system.tables
     WHERE database = 'intake' AND name IN {names:Array(String)} ORDER BY name`,
    { names },
  )
  const [limits] = await clickhouse.query<{
    readonly: string
    memory: number
    user_memory: number
  }>(
    `SELECT toString(getSetting('readonly')) AS readonly, getSetting('max_memory_usage') AS user_memory,
       (SELECT toUInt64(value) FROM system.server_settings WHERE name = 'max_server_memory_usage') AS memory`,
  )
  const { readonly, memory = 0, user_memory: userMemory = 0 } = limits ?? {}
  return [
    ...tables.flatMap(({ name, engine }) =>
      Object.entries(required).flatMap(([setting, wanted]) => {
        const actual = new RegExp(`\\b${setting} = (\\w+)`).exec(engine)?.[1] ?? 'not set'
        return actual === wanted
          ? []
          : [`the table intake.${name} has ${setting} ${actual}, not ${wanted}`]
      }),
    ),
    ...(readonly === '0' ? [] : ['the user in CLICKHOUSE_URL is readonly']),
    ...(await findZoneViolations(clickhouse, 'CLICKHOUSE_URL')),
    ...tooLittle('the server', 'max_server_memory_usage', memory),
    ...tooLittle('the user in CLICKHOUSE_URL', 'max_memory_usage', userMemory),
  ]
}

/** Midnights in winter and in summer, because some zones differ from UTC only half of the year. */
const midnights = ['2026-01-01', '2026-07-01']

/** ClickHouse must read times without a zone as UTC for the user in the setting `url`. */
export async function findZoneViolations(
  clickhouse: Pick<ClickHouse, 'query'>,
  url: string,
): Promise<string[]> {
  const [row] = await clickhouse.query<{ zone: string; seconds: number[] }>(
    `SELECT timezone() AS zone,
       arrayMap(day -> toUnixTimestamp(toDateTime(day)), {midnights:Array(String)}) AS seconds`,
    { midnights },
  )
  const isUtc = midnights.every((day, at) => row?.seconds[at] === Date.parse(day) / 1_000)
  return isUtc ? [] : [`the user in ${url} reads times in the zone ${row?.zone}, not UTC`]
}

const tooLittle = (who: string, name: string, bytes: number): string[] =>
  bytes === 0 || bytes >= memoryBytesMin
    ? []
    : [`${who} has ${name} ${bytes}, less than ${memoryBytesMin} (1 GiB)`]
