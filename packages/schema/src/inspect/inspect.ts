import type { ClickHouse } from '@intake/clickhouse'
import { findDifferencesOfAnalysts } from '../analysts/inspect.ts'
import { systemTable } from '../cluster/names.ts'
import { findSchemaDifferences } from './schema.ts'
import { findSettingViolations } from './settings.ts'

export interface Disk {
  name: string
  /** The space that inserts and merges may still use. */
  freeBytes: number
  totalBytes: number
}

export interface ClickHouseFacts {
  version: string
  /** These are in words for an operator, and empty if nothing differs. */
  schemaDifferences: string[]
  settingViolations: string[]
  disks: Disk[]
}

/** @throws {ClickHouseError} of kind `operator` without the right to read the system tables */
export async function inspectClickHouse(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
): Promise<ClickHouseFacts> {
  const [server] = await clickhouse.query<{ version: string }>('SELECT version() AS version')
  const schemaDifferences = await findSchemaDifferences(clickhouse)
  // Without the tables of this release, the definitions of analysts cannot be read.
  if (schemaDifferences.length === 0) {
    schemaDifferences.push(...(await findDifferencesOfAnalysts(clickhouse)))
  }
  const settingViolations = await findSettingViolations(clickhouse)
  const disks = await clickhouse.query<Disk>(
    `SELECT ${nameOfDisk(clickhouse)} AS name, toInt64(free_space) - toInt64(keep_free_space) AS freeBytes,
       total_space AS totalBytes
     FROM ${systemTable(clickhouse, 'disks')} WHERE NOT is_remote ORDER BY name`,
  )
  return {
    version: server?.version ?? 'unknown',
    schemaDifferences,
    settingViolations,
    disks,
  }
}

/** SQL for the name of a disk. On a cluster, the result contains the name of the server, too. */
const nameOfDisk = ({ cluster }: Pick<ClickHouse, 'cluster'>) =>
  cluster === undefined ? 'name' : "concat(name, ' of ', hostName())"

/** In milliseconds since 1970, read at some time during the request. */
export async function readClickHouseClock(clickhouse: Pick<ClickHouse, 'query'>): Promise<number> {
  const [row] = await clickhouse.query<{ ms: number }>(
    'SELECT toUnixTimestamp64Milli(now64(3)) AS ms',
  )
  return row?.ms ?? Number.NaN
}
