import { ClickHouseError, explainDefinition, type ClickHouse } from '@intake/clickhouse'
import { statementsOf } from '../definitions/definition.ts'
import { systemTable } from '../cluster/names.ts'
import { databaseOf, databasesOf, definerOf, type Analyst } from './analyst.ts'
import { findAnalystDifferences } from './inspect.ts'
import { onCluster, removalSql, rightsSql } from './rights.ts'
import { makePseudonymKey, readAnalysts } from './store.ts'
import { rowTablesOf, viewsOf } from './views.ts'

/** Codes for a user who may not change users, and for users in a file. */
const noRightCodes = [495, 497, 514]
const unknownUserCode = 192

/**
 * It can be repeated, also after a crash in the middle. Resolves to false if the owner may not make
 * the users. Then an administrator has to (`rightsSql`, or the file of `rightsXml`). Views of
 * missing users are defined by another call after that.
 */
export async function defineAnalyst(clickhouse: ClickHouse, analyst: Analyst): Promise<boolean> {
  if (analyst.pseudonyms.length > 0) await makePseudonymKey(clickhouse)
  const hasMade = await tryAll(clickhouse, rightsSql(analyst, clickhouse.cluster), noRightCodes)
  await tryAll(clickhouse, await viewSql(clickhouse, analyst), [unknownUserCode])
  return hasMade
}

/** Defines analysts who are not as they should be. `waiting` ones need an administrator. */
export async function defineAnalysts(clickhouse: ClickHouse) {
  const result: Record<'defined' | 'waiting', string[]> = { defined: [], waiting: [] }
  for (const analyst of await readAnalysts(clickhouse)) {
    if ((await findAnalystDifferences(clickhouse, analyst)).length === 0) continue
    await defineAnalyst(clickhouse, analyst)
    const differences = await findAnalystDifferences(clickhouse, analyst)
    result[differences.length === 0 ? 'defined' : 'waiting'].push(analyst.name)
  }
  return result
}

/** Resolves to false if the owner may not remove the users. */
export async function dropAnalyst(clickhouse: ClickHouse, analyst: Analyst): Promise<boolean> {
  const { cluster } = clickhouse
  // The views first: what is left of an interrupted removal shows nothing.
  for (const database of databasesOf(analyst, cluster).toReversed()) {
    await clickhouse.command(`DROP DATABASE IF EXISTS ${database}${onCluster(cluster)} SYNC`)
  }
  return tryAll(clickhouse, removalSql(analyst, cluster), noRightCodes)
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

/** Resolves to false at the first statement that fails with one of these codes. */
async function tryAll(
  clickhouse: ClickHouse,
  statements: readonly string[],
  codes: readonly number[],
): Promise<boolean> {
  for (const statement of statements) {
    try {
      await clickhouse.command(statement)
    } catch (error) {
      if (error instanceof ClickHouseError && codes.includes(error.code ?? 0)) return false
      throw explainDefinition(error, statement)
    }
  }
  return true
}
