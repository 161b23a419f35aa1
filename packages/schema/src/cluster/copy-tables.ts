import type { ClickHouse } from '@intake/clickhouse'

type Reader = Pick<ClickHouse, 'query'>

/**
 * Returns statements that create missing tables. They create every stored table that any server of
 * the cluster has, in its present form, on the servers that lack the table. A new replica of a
 * shard must have the columns of the other replicas from the beginning, because ClickHouse compares
 * its columns with those in Keeper, and the first migration creates fewer columns.
 */
export async function copyTables(clickhouse: Reader, cluster: string): Promise<string[]> {
  const tables = await clickhouse.query<{ statement: string }>(
    `SELECT any(create_table_query) AS statement FROM clusterAllReplicas('${cluster}', system.tables)
     WHERE database = 'intake' AND engine LIKE '%MergeTree' GROUP BY name ORDER BY name`,
  )
  return tables.map(({ statement }) =>
    statement.replace(
      /^CREATE TABLE intake\.(\w+)/,
      `CREATE TABLE IF NOT EXISTS intake.$1 ON CLUSTER '${cluster}'`,
    ),
  )
}
