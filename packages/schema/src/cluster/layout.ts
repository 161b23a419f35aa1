import { MigrationError, type ClickHouse } from '@intake/clickhouse'
import { serverOf, systemTable } from './names.ts'
import { addShards, parseShards, type Shards } from './shards.ts'
import type { ClusterLayout } from './statements.ts'

type Reader = Pick<ClickHouse, 'query' | 'cluster'>

/**
 * The shards that the tables use, or all without tables. `isResharded`: some are not used yet.
 * @throws {MigrationError} when tables or `newShardsFrom` do not fit the cluster
 */
export async function planLayout(
  clickhouse: Reader,
  newShardsFrom?: Date,
): Promise<{ layout: ClusterLayout | undefined; isResharded: boolean }> {
  const { cluster } = clickhouse
  if (cluster === undefined) {
    const engine = await readEngine(clickhouse)
    if (engine?.startsWith('Distributed')) throw new MigrationError(needsCluster)
    if (newShardsFrom !== undefined)
      throw new MigrationError('Without a cluster there are no shards.')
    return { layout: undefined, isResharded: false }
  }
  const { definer, count } = await readCluster(clickhouse, cluster)
  if (count === 0)
    throw new MigrationError(`ClickHouse has no cluster ${cluster} in remote_servers.`)
  const engine = await readEngine(clickhouse)
  if (engine !== undefined && !engine.startsWith('Distributed')) throw new MigrationError(needsMove)
  const first: Shards = { counts: [count], changes: [] }
  const shards = engine === undefined ? first : parseShards(engine)
  const used = shards.counts.at(-1) ?? 0
  if (count < used) {
    throw new MigrationError(
      `The cluster ${cluster} has ${count} shards, but records are on ${used}: a shard cannot be removed.`,
    )
  }
  if (newShardsFrom === undefined || count === used) {
    return { layout: { cluster, definer, shards }, isResharded: false }
  }
  return {
    layout: { cluster, definer, shards: addShards(shards, count, newShardsFrom) },
    isResharded: true,
  }
}

const needsCluster =
  'The tables in ClickHouse are those of a cluster: set CLICKHOUSE_CLUSTER to its name (docs/deploy/clickhouse.md).'
const needsMove =
  'The tables in ClickHouse are those of a single server: move their rows into a cluster ' +
  '(docs/deploy/clickhouse.md), or unset CLICKHOUSE_CLUSTER.'

async function readCluster(clickhouse: Reader, cluster: string) {
  const [row] = await clickhouse.query<{ definer: string; count: number }>(
    `SELECT currentUser() AS definer, uniqExact(shard_num) AS count
     FROM system.clusters WHERE cluster = {cluster:String}`,
    { cluster },
  )
  return row ?? { definer: '', count: 0 }
}

/** The engine of the table that log events are inserted into; undefined if there is no table. */
async function readEngine(clickhouse: Reader): Promise<string | undefined> {
  // Asks all servers, because a server that was added a moment ago has no table yet.
  const [table] = await clickhouse.query<{ engine: string }>(
    `SELECT engine_full AS engine FROM ${systemTable(clickhouse, 'tables')}
     WHERE database = 'intake' AND name = 'logs_raw' ORDER BY length(engine) DESC LIMIT 1`,
  )
  return table?.engine
}

/** The servers that lack tables or views of another server; empty without a cluster. */
export async function findIncompleteServers(clickhouse: Reader): Promise<string[]> {
  const { cluster } = clickhouse
  if (cluster === undefined) return []
  const servers = await clickhouse.query<{ server: string; tables: string[] }>(
    `SELECT ${serverOf(clickhouse)} AS server,
       groupArrayIf(name, database = 'intake') AS tables
     FROM clusterAllReplicas('${cluster}', system.tables)
     WHERE database IN ('intake', 'system') GROUP BY server ORDER BY server`,
  )
  const all = new Set(servers.flatMap(({ tables }) => tables))
  return servers.filter(({ tables }) => tables.length < all.size).map(({ server }) => server)
}

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

/** Counts the shards of the cluster that get no rows, neither now nor after a planned change. */
export async function countUnusedShards(clickhouse: Reader): Promise<number> {
  const { cluster } = clickhouse
  if (cluster === undefined) return 0
  const engine = await readEngine(clickhouse)
  if (engine === undefined) return 0
  const { count } = await readCluster(clickhouse, cluster)
  return count - (parseShards(engine).counts.at(-1) ?? 0)
}
