import type { ClickHouse } from '@intake/clickhouse'

type Reader = Pick<ClickHouse, 'query'>

/**
 * A new replica needs the columns of the others from the beginning: ClickHouse compares them with
 * those in Keeper, and the first migration would create fewer.
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
