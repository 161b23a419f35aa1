import { rawTables } from '@intake/clickhouse'
import { toLocal } from '../cluster/statements.ts'
import { conditionOf, databaseOf, definerOf, rowsDatabaseOf, type Analyst } from './analyst.ts'

/**
 * The tables with the policies. On a cluster these are the tables of each server: another server
 * reads with the rights of the user in `remote_servers`, who has no policies.
 */
const storedTables = (cluster?: string) =>
  (['logs', 'feedback', 'attachments', 'hours', 'days'] as const).map((kind) => {
    const { name } = rawTables[kind]
    return cluster === undefined ? name : toLocal(name)
  })

/** A hash that no password is known to have. */
const noPassword = '0'.repeat(64)

/**
 * The profile of both users. ClickHouse does not check the settings of subqueries. In a view, it
 * leaves out those that the definer may not change.
 */
export const profile = 'analyst'

interface User {
  name: string
  passwordSha256: string
  canConnect: boolean
  /** What the user may read. */
  tables: readonly string[]
  /** The condition on the rows of some tables, which are all in one database. */
  policies: Readonly<Record<string, string>>
}

/**
 * The two users of an analyst: the definer, with whose rights the views read, and the one who logs
 * in. Columns need no rights of their own: views do not have what is left out, and a right to some
 * columns would not include their parts, such as `device.os`.
 */
export const usersOf = (analyst: Analyst, cluster?: string): User[] => [
  {
    name: definerOf(analyst),
    passwordSha256: noPassword,
    canConnect: false,
    tables: [
      ...storedTables(cluster),
      ...(cluster === undefined ? [] : [`${rowsDatabaseOf(analyst)}.*`]),
      rawTables.watermark.name,
      rawTables.counted.name,
      ...(analyst.pseudonyms.length > 0 ? ['intake.pseudonym_key'] : []),
    ],
    policies: Object.fromEntries(
      storedTables(cluster).map((table) => [table, conditionOf(analyst)]),
    ),
  },
  {
    name: databaseOf(analyst),
    passwordSha256: analyst.passwordSha256,
    canConnect: true,
    // system.parts and information_schema show only what the user may read.
    tables: [
      `${databaseOf(analyst)}.*`,
      'information_schema.*',
      'INFORMATION_SCHEMA.*',
      'system.parts',
      'system.processes',
    ],
    policies: { 'system.processes': 'user = currentUser()' },
  },
]

/** Needs the rights of deploy/clickhouse/users.xml, or those of an administrator. */
export function rightsSql(analyst: Analyst, cluster?: string): string[] {
  const users = usersOf(analyst, cluster)
  const on = onCluster(cluster)
  return [
    ...['CREATE USER IF NOT EXISTS', 'ALTER USER'].flatMap((verb) =>
      users.map(
        ({ name, passwordSha256, canConnect }) =>
          `${verb} \`${name}\`${on} IDENTIFIED WITH sha256_hash BY '${passwordSha256}' HOST ${canConnect ? 'ANY' : 'NONE'} SETTINGS PROFILE '${profile}'`,
      ),
    ),
    ...users.flatMap(({ name, policies }) =>
      Object.entries(policies).map(
        ([table, condition]) =>
          `CREATE ROW POLICY OR REPLACE ${databaseOf(analyst)}${on} ON ${table} FOR SELECT USING ${condition} AS PERMISSIVE TO \`${name}\``,
      ),
    ),
    ...users.map(
      ({ name, tables }) =>
        `GRANT${on} ${tables.map((table) => `SELECT ON ${table}`).join(', ')} TO \`${name}\` WITH REPLACE OPTION`,
    ),
  ]
}

export function removalSql(analyst: Analyst, cluster?: string): string[] {
  const users = usersOf(analyst, cluster)
  const on = onCluster(cluster)
  return [
    ...users
      .flatMap(({ policies }) => Object.keys(policies))
      .map((table) => `DROP ROW POLICY IF EXISTS ${databaseOf(analyst)} ON ${table}${on}`),
    `DROP USER IF EXISTS ${users.map(({ name }) => `\`${name}\``).join(', ')}${on}`,
  ]
}

export const onCluster = (cluster?: string) =>
  cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`

/** A file for the folder users.d. The analyst connects from `network`, as in `<ip>`. */
export function rightsXml(analyst: Analyst, network = '::/0', cluster?: string): string {
  const users = usersOf(analyst, cluster).map((user) => {
    const grants = user.tables.map((table) => `        <query>GRANT SELECT ON ${table}</query>\n`)
    // As ClickHouse documents it: one element for a database, in it one for each table.
    const [database] = Object.keys(user.policies)[0]?.split('.') ?? []
    const filters = Object.entries(user.policies).map(([table, condition]) => {
      const name = table.replace(`${database}.`, '')
      return `          <${name}><filter>${escape(condition)}</filter></${name}>\n`
    })
    return `    <${user.name}>
      <password_sha256_hex>${user.passwordSha256}</password_sha256_hex>
      <networks>${user.canConnect ? `<ip>${network}</ip>` : ''}</networks>
      <profile>${profile}</profile>
      <quota>default</quota>
      <grants>
${grants.join('')}      </grants>
      <databases>
        <${database}>
${filters.join('')}        </${database}>
      </databases>
    </${user.name}>
`
  })
  return `<clickhouse>\n  <users>\n${users.join('')}  </users>\n</clickhouse>\n`
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
