import type { ClickHouse } from '@intake/clickhouse'
import { serverOf, systemTable } from '../cluster/names.ts'
import { formatQuery } from '../inspect/columns.ts'
import { databaseOf, definerOf, rowsDatabaseOf, type Analyst } from './analyst.ts'
import { profile, usersOf } from './rights.ts'
import { readAnalysts } from './store.ts'
import { rowTablesOf, viewsOf } from './views.ts'

type Reader = Pick<ClickHouse, 'query' | 'cluster'>

export async function findDifferencesOfAnalysts(clickhouse: Reader): Promise<string[]> {
  const analysts = await readAnalysts(clickhouse)
  const found = analysts.map((analyst) => findAnalystDifferences(clickhouse, analyst))
  return (await Promise.all(found)).flat()
}

/**
 * Compares facts: each is a line in words for an operator, and then SQL in the form in which
 * ClickHouse prints it. What a server lacks, has with other SQL, or has in addition, is a difference.
 */
export async function findAnalystDifferences(
  clickhouse: Reader,
  analyst: Analyst,
): Promise<string[]> {
  const actual = await readFacts(clickhouse, analyst)
  if (actual.size === 0) return [`analyst ${analyst.name}: everything is missing`]
  const expected = await Promise.all(
    expectedFacts(analyst, clickhouse.cluster).map(async (fact) => {
      const [words = '', sql] = fact.split(/\n([^]*)/)
      return `${words}\n${sql === undefined ? '' : await formatQuery(clickhouse, sql)}`
    }),
  )
  const differing = [
    ...expected.filter((fact) => !actual.get(fact)),
    ...[...actual.keys()].filter((fact) => !expected.includes(fact)),
  ]
  const words = new Set(differing.map((fact) => fact.slice(0, fact.indexOf('\n'))))
  return Array.from(words, (fact) => `analyst ${analyst.name}: not as defined: ${fact}`)
}

function expectedFacts(analyst: Analyst, cluster?: string): string[] {
  const views = viewsOf(analyst, cluster).map(({ name, select = '' }) => ({
    view: `${databaseOf(analyst)}.${name}`,
    select,
  }))
  const rowTables = rowTablesOf(analyst, cluster)
  return [
    ...usersOf(analyst, cluster).flatMap(({ name, tables, policies }) => [
      `the user ${name} with the profile ${profile}`,
      ...tables.map((table) => `the right of ${name} to SELECT ON ${table}`),
      ...Object.entries(policies).map(
        ([table, condition]) => `the row policy of ${name} on ${table}\nSELECT ${condition}`,
      ),
    ]),
    ...[...views, ...rowTables].map(
      ({ view, select }) => `the view ${view} by ${definerOf(analyst)}\n${select}`,
    ),
    ...rowTables.map(({ table, engine }) => `the table ${table} with ${engine}`),
  ]
}

/** The facts, and whether every server has them. */
async function readFacts(clickhouse: Reader, analyst: Analyst): Promise<Map<string, 0 | 1>> {
  const server = serverOf(clickhouse)
  const system = (name: string) => systemTable(clickhouse, name)
  const rows = await clickhouse.query<{ fact: string; isEverywhere: 0 | 1 }>(
    `SELECT concat(words, '\n', ifNull(formatQueryOrNull(sql), '')) AS fact,
       uniqExact(server) = (SELECT uniqExact(${server}) FROM ${system('one')}) AS isEverywhere
     FROM (
       SELECT ${server} AS server, concat('the user ', assumeNotNull(user_name), ' with the profile ', assumeNotNull(inherit_profile)) AS words, '' AS sql
       FROM ${system('settings_profile_elements')} WHERE user_name IN {users:Array(String)} AND isNotNull(inherit_profile)
       UNION ALL
       SELECT ${server}, concat('the right of ', user_name, ' to ', access_type::String, ' ON ', ifNull(database, '*'), '.', ifNull(table, '*'), ifNull(concat(' (', column, ')'), '')), ''
       FROM ${system('grants')} WHERE user_name IN {users:Array(String)} AND is_partial_revoke = 0
       UNION ALL
       SELECT ${server}, concat('the row policy of ', user, ' on ', database, '.', table), concat('SELECT ', select_filter)
       FROM ${system('row_policies')} ARRAY JOIN apply_to_list AS user WHERE user IN {users:Array(String)}
       UNION ALL
       SELECT ${server}, concat('the view ', database, '.', name, ' by ', ifNull(nullIf(extract(create_table_query, 'DEFINER = \`?([^ \`]+)'), ''), 'nobody')), as_select
       FROM ${system('tables')} WHERE database IN {databases:Array(String)} AND engine != 'Distributed'
       UNION ALL
       SELECT ${server}, concat('the table ', database, '.', name, ' with ', engine_full), ''
       FROM ${system('tables')} WHERE database IN {databases:Array(String)} AND engine = 'Distributed'
     ) GROUP BY fact`,
    {
      users: usersOf(analyst).map(({ name }) => name),
      databases: [databaseOf(analyst), rowsDatabaseOf(analyst)],
    },
  )
  return new Map(rows.map(({ fact, isEverywhere }) => [fact, isEverywhere]))
}
