import type { ClickHouse } from '@intake/clickhouse'
import { isSharded, localName, toLocal } from './statements.ts'

type Place = Pick<ClickHouse, 'cluster'>

/**
 * Returns the name of the table in which a server stores the rows of a table. In a cluster, only
 * the local table of a sharded table has partitions and mutations; the Distributed table has none.
 */
export const storedTable = ({ cluster }: Place, table: string): string =>
  cluster === undefined || !isSharded(table) ? table : localName(table)

/**
 * Returns the statement that applies an `ALTER TABLE` on every server. If `change` has conditions
 * that read sharded tables, each server reads its local tables. A table that every server holds
 * completely is altered through its replication.
 */
export const alterStored = (place: Place, table: string, change: string): string =>
  place.cluster === undefined || !isSharded(table)
    ? `ALTER TABLE intake.${table} ${change}`
    : `ALTER TABLE intake.${localName(table)} ON CLUSTER '${place.cluster}' ${toLocal(change)}`

/**
 * A table, named with its database, with the rows of every server: those of a table that every
 * server holds completely come once per server. Reading it fails while a server does not respond.
 */
export const onEveryServer = ({ cluster }: Place, table: string): string =>
  cluster === undefined ? table : `clusterAllReplicas('${cluster}', ${table})`

export const systemTable = (place: Place, name: string): string =>
  onEveryServer(place, `system.${name}`)

/**
 * Waits until every replica has all confirmed rows of these tables, and the merges that were asked
 * for, so that the next statement sees them on any replica. Returns at once without a cluster.
 *
 * @throws {ClickHouseError} if a server does not confirm it within the timeout of the client
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
