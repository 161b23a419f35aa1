import type { ClickHouse } from '@intake/clickhouse'
import { localName, toLocal } from './statements.ts'

type Place = Pick<ClickHouse, 'cluster'>

/**
 * Returns the name of the table in which a server stores the rows of a sharded table. In a cluster,
 * only this local table has partitions and mutations; the Distributed table has none.
 */
export const storedTable = ({ cluster }: Place, table: string): string =>
  cluster === undefined ? table : localName(table)

/**
 * Returns the statement that applies an `ALTER TABLE` of a sharded table on every server. If
 * `change` has conditions that read sharded tables, each server reads its local tables.
 */
export const alterStored = (place: Place, table: string, change: string): string =>
  place.cluster === undefined
    ? `ALTER TABLE intake.${table} ${change}`
    : `ALTER TABLE intake.${localName(table)} ON CLUSTER '${place.cluster}' ${toLocal(change)}`

/**
 * A system table with the rows of every server. Reading it fails while a server does not respond.
 */
export const systemTable = ({ cluster }: Place, name: string): string =>
  cluster === undefined ? `system.${name}` : `clusterAllReplicas('${cluster}', system.${name})`

/**
 * Waits until every replica has all confirmed rows of these tables, so that the next statement sees
 * them on any replica. Returns at once without a cluster.
 */
export async function syncReplicas(
  clickhouse: Pick<ClickHouse, 'command' | 'cluster'>,
  tables: readonly string[],
): Promise<void> {
  const { cluster } = clickhouse
  if (cluster === undefined) return
  for (const table of tables) {
    await clickhouse.command(
      `SYSTEM SYNC REPLICA ON CLUSTER '${cluster}' intake.${localName(table)}`,
    )
  }
}
