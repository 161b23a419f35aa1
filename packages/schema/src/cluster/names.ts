import type { ClickHouse } from '@intake/clickhouse'
import { isSharded, localName, toLocal } from './statements.ts'

type Place = Pick<ClickHouse, 'cluster'>

/** Only the local table of a sharded table has partitions and mutations. */
export const storedTable = ({ cluster }: Place, table: string): string =>
  cluster === undefined || !isSharded(table) ? table : localName(table)

/** Each server alters its local tables. A table that all hold is altered by its replication. */
export const alterStored = (place: Place, table: string, change: string): string =>
  place.cluster === undefined || !isSharded(table)
    ? `ALTER TABLE intake.${table} ${change}`
    : `ALTER TABLE intake.${localName(table)} ON CLUSTER '${place.cluster}' ${toLocal(change)}`

/** A table that all servers hold has its rows once per server. Fails if one does not respond. */
export const onEveryServer = ({ cluster }: Place, table: string): string =>
  cluster === undefined ? table : `clusterAllReplicas('${cluster}', ${table})`

/** SQL for the server that a row of `systemTable` comes from; without a cluster an empty text. */
export const serverOf = ({ cluster }: Place): string =>
  cluster === undefined ? "''" : "concat(hostName(), ':', toString(tcpPort()))"

export const systemTable = (place: Place, name: string): string =>
  onEveryServer(place, `system.${name}`)

/**
 * Waits until every replica has all confirmed rows and merges.
 * @throws {ClickHouseError} if a server does not confirm it in time
 */
export async function syncReplicas(
  clickhouse: Pick<ClickHouse, 'command' | 'cluster'>,
  tables: readonly string[],
): Promise<void> {
  const { cluster } = clickhouse
  if (cluster === undefined) return
  for (const table of tables) {
    await clickhouse.command(
      `SYSTEM SYNC REPLICA ON CLUSTER '${cluster}' ${toLocal(`intake.${table}`)}`,
    )
  }
}
