import type { ClickHouse } from '@intake/clickhouse'

type Reader = Pick<ClickHouse, 'query'>

/**
 * Returns statements that create missing tables on the servers of a cluster. They create every
 * stored table that any of the servers has, in its present form. A new replica of a shard must have
 * the columns of the other replicas from the beginning, because ClickHouse compares the replica's
 * columns with those in Keeper. The first migration would create the table with fewer columns.
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
