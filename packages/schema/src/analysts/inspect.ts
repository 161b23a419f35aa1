import type { ClickHouse } from '@intake/clickhouse'
import { conditionOf, databaseOf, definerOf, type Analyst } from './analyst.ts'
import { expectedRights } from './rights.ts'
import { readAnalysts } from './store.ts'
import { viewsOf } from './views.ts'

type Reader = Pick<ClickHouse, 'query' | 'cluster'>

/** The differences of all analysts from their definitions, in words for an operator. */
export async function findDifferencesOfAnalysts(clickhouse: Reader): Promise<string[]> {
  if (clickhouse.cluster !== undefined) return []
  const analysts = await readAnalysts(clickhouse)
  const found = await Promise.all(
    analysts.map((analyst) => findAnalystDifferences(clickhouse, analyst)),
  )
  return found.flat()
}

/**
 * Compares users, rights, policies and views of an analyst with the definition. Returns the
 * differences in words for an operator; empty if there are none.
 */
export async function findAnalystDifferences(
  clickhouse: Reader,
  analyst: Analyst,
): Promise<string[]> {
  const [users, rights, policies, views] = await Promise.all([
    findMissingUsers(clickhouse, analyst),
    findGrantDifferences(clickhouse, analyst),
    findPolicyDifferences(clickhouse, analyst),
    findViewDifferences(clickhouse, analyst),
  ])
  // Without users, their rights are missing, too.
  const differences = users.length > 0 ? [...users, ...views] : [...rights, ...policies, ...views]
  return differences.map((difference) => `analyst ${analyst.name}: ${difference}`)
}

async function findMissingUsers(clickhouse: Reader, analyst: Analyst): Promise<string[]> {
  const rows = await clickhouse.query<{ name: string }>('SELECT name FROM system.users')
  const known = new Set(rows.map(({ name }) => name))
  return [databaseOf(analyst), definerOf(analyst)]
    .filter((name) => !known.has(name))
    .map((name) => `the user ${name} is missing`)
}

async function findGrantDifferences(clickhouse: Reader, analyst: Analyst): Promise<string[]> {
  const rows = await clickhouse.query<{ key: string }>(
    `SELECT concat(if(access_type = 'SELECT', '', concat(access_type, ' by ')), user_name, ' ',
       ifNull(database, '*'), '.', ifNull(table, ''), if(isNull(column), '', concat(' ', column))) AS key
     FROM system.grants
     WHERE user_name IN {users:Array(String)} AND is_partial_revoke = 0 ORDER BY key`,
    { users: [databaseOf(analyst), definerOf(analyst)] },
  )
  const { grants } = expectedRights(analyst)
  const actual = new Set(rows.map(({ key }) => key))
  return [
    ...[...actual].filter((key) => !grants.includes(key)).map((key) => `it may read, too: ${key}`),
    ...grants.filter((key) => !actual.has(key)).map((key) => `it may not read: ${key}`),
  ]
}

async function findPolicyDifferences(clickhouse: Reader, analyst: Analyst): Promise<string[]> {
  const rows = await clickhouse.query<{ table: string; same: 0 | 1 }>(
    `SELECT table, formatQuery(concat('SELECT ', select_filter)) = formatQuery(concat('SELECT ', {wanted:String}))
       AND is_restrictive = 0 AND apply_to_list = [{definer:String}] AS same
     FROM system.row_policies
     WHERE database = 'intake' AND has(apply_to_list, {definer:String}) ORDER BY table`,
    { wanted: conditionOf(analyst), definer: definerOf(analyst) },
  )
  const { policies } = expectedRights(analyst)
  const right = new Set(rows.filter(({ same }) => same === 1).map(({ table }) => table))
  return policies
    .filter((table) => !right.has(table))
    .concat(rows.filter(({ same }) => same !== 1).map(({ table }) => table))
    .filter((table, place, all) => all.indexOf(table) === place)
    .map((table) => `the row policy on intake.${table} is missing or another one`)
}

async function findViewDifferences(clickhouse: Reader, analyst: Analyst): Promise<string[]> {
  const database = databaseOf(analyst)
  const rows = await clickhouse.query<{ name: string; select: string; definer: string }>(
    `SELECT name, as_select AS select,
       extract(create_table_query, 'DEFINER = (\\S+)') AS definer
     FROM system.tables WHERE database = {database:String}`,
    { database },
  )
  const wanted = viewsOf(analyst)
  const compared = wanted.map(async ({ name, select = '' }) => {
    const actual = rows.find((row) => row.name === name)
    if (actual === undefined) return [`the view ${database}.${name} is missing`]
    const [row] = await clickhouse.query<{ same: 0 | 1 }>(
      'SELECT formatQuery({actual:String}) = formatQuery({select:String}) AS same',
      { actual: actual.select, select },
    )
    const isSame = row?.same === 1 && actual.definer === `\`${definerOf(analyst)}\``
    return isSame ? [] : [`the view ${database}.${name} has another query or definer`]
  })
  const surplus = rows
    .filter(({ name }) => !wanted.some((view) => view.name === name))
    .map(({ name }) => `${database}.${name} is none of its views`)
  return [...(await Promise.all(compared)).flat(), ...surplus]
}
