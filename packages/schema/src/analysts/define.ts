import { ClickHouseError, explainDefinition, type ClickHouse } from '@intake/clickhouse'
import { statementsOf } from '../definitions/definition.ts'
import { systemTable } from '../cluster/names.ts'
import { databaseOf, databasesOf, definerOf, type Analyst } from './analyst.ts'
import { findAnalystDifferences } from './inspect.ts'
import { onCluster, removalSql, rightsSql } from './rights.ts'
import { makePseudonymKey, readAnalysts } from './store.ts'
import { rowTablesOf, viewsOf } from './views.ts'

/** Codes for a user who may not change users, and for users in a file. */
const noRightCodes: ReadonlySet<number | undefined> = new Set([495, 497, 514])

/**
 * It can be repeated, also after a crash in the middle. Resolves to false if the users are missing or
 * have other rights, and the owner may not make them. Then an administrator has to (`rightsSql`, or
 * the file of `rightsXml`). Views of missing users are defined by another call after that.
 */
export async function defineAnalyst(clickhouse: ClickHouse, analyst: Analyst): Promise<boolean> {
  if (analyst.pseudonyms.length > 0) await makePseudonymKey(clickhouse)
  await tryStatements(clickhouse, rightsSql(analyst, clickhouse.cluster))
  const { users, servers } = await countUsers(clickhouse, definerOf(analyst))
  if (users < servers) return false
  for (const statement of await viewSql(clickhouse, analyst)) {
    await clickhouse.command(statement).catch((error: unknown) => {
      throw explainDefinition(error, statement)
    })
  }
  return (await findAnalystDifferences(clickhouse, analyst)).length === 0
}

/** Defines analysts who are not as they should be. `waiting` ones need an administrator. */
export async function defineAnalysts(clickhouse: ClickHouse) {
  const result: Record<'defined' | 'waiting', string[]> = { defined: [], waiting: [] }
  for (const analyst of await readAnalysts(clickhouse)) {
    if ((await findAnalystDifferences(clickhouse, analyst)).length === 0) continue
    const isDefined = await defineAnalyst(clickhouse, analyst)
    result[isDefined ? 'defined' : 'waiting'].push(analyst.name)
  }
  return result
}

/** Removes the users only if the owner may. Resolves to whether no user is left. */
export async function dropAnalyst(clickhouse: ClickHouse, analyst: Analyst): Promise<boolean> {
  const { cluster } = clickhouse
  // The views first: what is left of an interrupted removal shows nothing.
  for (const database of databasesOf(analyst, cluster).toReversed()) {
    await clickhouse.command(`DROP DATABASE IF EXISTS ${database}${onCluster(cluster)} SYNC`)
  }
  await tryStatements(clickhouse, removalSql(analyst, cluster))
  return (await countUsers(clickhouse, databaseOf(analyst))).users === 0
}

/** Also removes what the analyst should not have. */
async function viewSql(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  analyst: Analyst,
): Promise<string[]> {
  const { cluster } = clickhouse
  const on = onCluster(cluster)
  const database = databaseOf(analyst)
  const views = viewsOf(analyst, cluster)
  const existing = await clickhouse.query<{ name: string }>(
    `SELECT DISTINCT name FROM ${systemTable(clickhouse, 'tables')} WHERE database = {database:String}`,
    { database },
  )
  const surplus = existing.filter(({ name }) => !views.some((view) => view.name === name))
  const definer = `\`${definerOf(analyst)}\``
  return [
    ...databasesOf(analyst, cluster).map((name) => `CREATE DATABASE IF NOT EXISTS ${name}${on}`),
    ...rowTablesOf(analyst, cluster).flatMap(({ table, engine, view, select }) => [
      `CREATE OR REPLACE VIEW ${view}${on} DEFINER = ${definer} SQL SECURITY DEFINER AS ${select}`,
      `CREATE OR REPLACE TABLE ${table}${on} AS ${view}\nENGINE = ${engine}`,
    ]),
    ...surplus.map(({ name }) => `DROP TABLE IF EXISTS ${database}.\`${name}\`${on}`),
    ...views.flatMap((view) => statementsOf(view, { database, definer, on })),
  ]
}

async function tryStatements(clickhouse: ClickHouse, statements: readonly string[]): Promise<void> {
  try {
    for (const statement of statements) await clickhouse.command(statement)
  } catch (error) {
    if (!(error instanceof ClickHouseError) || !noRightCodes.has(error.code)) throw error
  }
}

/** On how many servers there is a user: only those of a cluster can differ. */
async function countUsers(clickhouse: Pick<ClickHouse, 'query' | 'cluster'>, name: string) {
  const [found] = await clickhouse.query<{ users: number; servers: number }>(
    `SELECT (SELECT count() FROM ${systemTable(clickhouse, 'users')} WHERE name = {name:String}) AS users,
       (SELECT count() FROM ${systemTable(clickhouse, 'one')}) AS servers`,
    { name },
  )
  return found ?? { users: 0, servers: 1 }
}
