import type { ClickHouse } from '@intake/clickhouse'
import { serverName, systemTable } from '../cluster/names.ts'
import { isSameQuery } from '../inspect/columns.ts'
import { databaseOf, definerOf, rowsDatabaseOf, type Analyst } from './analyst.ts'
import { profile, usersOf } from './rights.ts'
import { readAnalysts } from './store.ts'
import { rowTablesOf, viewsOf } from './views.ts'

type Reader = Pick<ClickHouse, 'query' | 'cluster'>

/** What an analyst has, in words for an operator. Some things also have SQL, which can differ. */
type Facts = Map<string, string>

export async function findDifferencesOfAnalysts(clickhouse: Reader): Promise<string[]> {
  const analysts = await readAnalysts(clickhouse)
  const found = await Promise.all(
    analysts.map((analyst) => findAnalystDifferences(clickhouse, analyst)),
  )
  return found.flat()
}

/** The differences in words for an operator; empty if there are none. */
export async function findAnalystDifferences(
  clickhouse: Reader,
  analyst: Analyst,
): Promise<string[]> {
  const { cluster } = clickhouse
  const servers = await clickhouse.query<{ at: string }>(
    `SELECT ${nameOfServer(cluster)} AS at FROM ${systemTable(clickhouse, 'one')} GROUP BY at ORDER BY at`,
  )
  const facts = [...expectedFacts(analyst, cluster)]
  const expected: Facts = new Map(
    servers.flatMap(({ at }) => facts.map(([fact, sql]) => [fact + at, sql] as const)),
  )
  const actual = await readFacts(clickhouse, analyst)
  if (actual.size === 0) return [`analyst ${analyst.name}: everything is missing`]
  const compared = [...new Set([...expected.keys(), ...actual.keys()])].map(async (fact) => {
    const [wanted, found] = [expected.get(fact), actual.get(fact)]
    if (found === undefined) return [`${fact} is missing`]
    if (wanted === undefined) return [`${fact} is too much`]
    if (wanted === found) return []
    return (await isSameQuery(clickhouse, found, wanted)) ? [] : [`${fact} was changed`]
  })
  return (await Promise.all(compared)).flat().map((words) => `analyst ${analyst.name}: ${words}`)
}

/** SQL for the end of a fact, which differs on each server of a cluster. */
const nameOfServer = (cluster?: string) =>
  cluster === undefined ? "''" : `concat(' on ', ${serverName})`

function expectedFacts(analyst: Analyst, cluster?: string): Facts {
  const facts: Facts = new Map()
  for (const { name, tables, policies } of usersOf(analyst, cluster)) {
    facts.set(`the user ${name}`, '')
    facts.set(`the profile ${profile} of ${name}`, '')
    for (const table of tables) facts.set(`the right of ${name} to SELECT ON ${table}`, '')
    for (const [table, condition] of Object.entries(policies)) {
      facts.set(`the row policy of ${name} on ${table}`, `SELECT ${condition}`)
    }
  }
  for (const { name, select = '' } of viewsOf(analyst, cluster)) {
    facts.set(`the view ${databaseOf(analyst)}.${name} by ${definerOf(analyst)}`, select)
  }
  for (const { table, engine, view, select } of rowTablesOf(analyst, cluster)) {
    facts.set(`the view ${view} by ${definerOf(analyst)}`, select)
    facts.set(`the table ${table} with ${engine}`, '')
  }
  return facts
}

async function readFacts(clickhouse: Reader, analyst: Analyst): Promise<Facts> {
  const at = nameOfServer(clickhouse.cluster)
  const system = (name: string) => systemTable(clickhouse, name)
  const rows = await clickhouse.query<{ fact: string; sql: string }>(
    `SELECT concat('the user ', name, ${at}) AS fact, '' AS sql
     FROM ${system('users')} WHERE name IN {users:Array(String)}
     UNION ALL
     SELECT concat('the profile ', assumeNotNull(inherit_profile), ' of ', assumeNotNull(user_name), ${at}), ''
     FROM ${system('settings_profile_elements')} WHERE user_name IN {users:Array(String)} AND isNotNull(inherit_profile)
     UNION ALL
     SELECT concat('the right of ', user_name, ' to ', access_type::String, ' ON ', ifNull(database, '*'), '.',
       ifNull(table, '*'), if(isNull(column), '', concat(' (', column, ')')), ${at}), ''
     FROM ${system('grants')} WHERE user_name IN {users:Array(String)} AND is_partial_revoke = 0
     UNION ALL
     SELECT concat('the row policy of ', user, ' on ', database, '.', table, ${at}),
       concat('SELECT ', select_filter, if(is_restrictive, ' restrictive', ''))
     FROM ${system('row_policies')} ARRAY JOIN apply_to_list AS user WHERE user IN {users:Array(String)}
     UNION ALL
     SELECT if(engine = 'Distributed', concat('the table ', database, '.', name, ' with ', engine_full, ${at}),
       concat('the view ', database, '.', name, ' by ', ifNull(nullIf(extract(create_table_query, 'DEFINER = \`?([^ \`]+)'), ''), 'nobody'), ${at})), as_select
     FROM ${system('tables')} WHERE database IN {databases:Array(String)}`,
    {
      users: usersOf(analyst).map(({ name }) => name),
      databases: [databaseOf(analyst), rowsDatabaseOf(analyst)],
    },
  )
  const facts = new Map<string, string>()
  for (const { fact, sql } of rows) {
    // A second policy of a user on a table lets it read more rows, whatever the first one says.
    const first = facts.get(fact)
    facts.set(fact, first === undefined ? sql : `${first} UNION ALL ${sql}`)
  }
  return facts
}
