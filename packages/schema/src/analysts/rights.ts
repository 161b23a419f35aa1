import { rawTables } from '@intake/clickhouse'
import { conditionOf, databaseOf, definerOf, type Analyst } from './analyst.ts'

interface Right {
  table: string
  /** Absent: all columns. */
  columns?: readonly string[]
}

/** The tables whose rows belong to applications. */
const tablesOfRows = ['logs', 'feedback', 'attachments', 'hours', 'days'] as const

/** What the definer of the views may read: rows by a policy, columns by its grants. */
function definerRights({ without, pseudonyms }: Analyst): Right[] {
  return [
    ...tablesOfRows.map((kind) => {
      const { name, columns } = rawTables[kind]
      const left: string[] = columns.filter((column) => !without.includes(column))
      // `ver` tells the view `deletions` which rows are tombstones.
      return left.length === columns.length
        ? { table: name }
        : { table: name, columns: [...left, 'ver'] }
    }),
    { table: rawTables.watermark.name },
    { table: rawTables.counted.name },
    ...(pseudonyms.length > 0 ? [{ table: 'intake.pseudonym_key' }] : []),
  ]
}

/** What the analyst's user may read. `system.parts` and `information_schema` show only that. */
const userRights = (analyst: Analyst): Right[] => [
  { table: `${databaseOf(analyst)}.*` },
  { table: 'information_schema.*' },
  { table: 'INFORMATION_SCHEMA.*' },
  { table: 'system.parts' },
  { table: 'system.processes' },
]

const printRight = ({ table, columns }: Right) =>
  `SELECT${columns === undefined ? '' : `(${columns.join(', ')})`} ON ${table}`

/** A hash that no password is known to have. */
const noPassword = '0'.repeat(64)
const ownQueries = 'user = currentUser()'

/**
 * Returns the SQL that makes the users of an analyst, or gives existing ones these rights. Needs
 * the rights of deploy/clickhouse/users.xml, or those of an administrator.
 */
export function rightsSql(analyst: Analyst): string[] {
  const [user, definer] = [`\`${databaseOf(analyst)}\``, `\`${definerOf(analyst)}\``]
  const policy = databaseOf(analyst)
  const users = [
    [definer, `IDENTIFIED WITH sha256_hash BY '${noPassword}' HOST NONE`],
    [
      user,
      `IDENTIFIED WITH sha256_hash BY '${analyst.passwordSha256}' HOST ANY SETTINGS PROFILE 'analyst'`,
    ],
  ] as const
  const grants = [
    [definer, definerRights(analyst)],
    [user, userRights(analyst)],
  ] as const
  return [
    ...users.map(([name, how]) => `CREATE USER IF NOT EXISTS ${name} ${how}`),
    ...users.map(([name, how]) => `ALTER USER ${name} ${how}`),
    ...tablesOfRows.map(
      (kind) =>
        `CREATE ROW POLICY OR REPLACE ${policy} ON ${rawTables[kind].name} FOR SELECT USING ${conditionOf(analyst)} AS PERMISSIVE TO ${definer}`,
    ),
    `CREATE ROW POLICY OR REPLACE ${policy} ON system.processes FOR SELECT USING ${ownQueries} AS PERMISSIVE TO ${user}`,
    ...grants.map(
      ([name, rights]) =>
        `GRANT ${rights.map(printRight).join(', ')} TO ${name} WITH REPLACE OPTION`,
    ),
  ]
}

/** Returns the SQL that removes what `rightsSql` has made. */
export function removalSql(analyst: Pick<Analyst, 'name'>): string[] {
  const policy = databaseOf(analyst)
  return [
    ...[...tablesOfRows.map((kind) => rawTables[kind].name), 'system.processes'].map(
      (table) => `DROP ROW POLICY IF EXISTS ${policy} ON ${table}`,
    ),
    `DROP USER IF EXISTS \`${databaseOf(analyst)}\`, \`${definerOf(analyst)}\``,
  ]
}

/**
 * Returns the same users as a file for the folder users.d of the server.
 *
 * @param network from which addresses the analyst may connect, as `<ip>` says it
 */
export function rightsXml(analyst: Analyst, network = '::/0'): string {
  const grants = (rights: readonly Right[]) =>
    rights.map((right) => `        <query>GRANT ${printRight(right)}</query>`).join('\n')
  const filters = tablesOfRows
    .map((kind) => {
      const table = rawTables[kind].name.replace('intake.', '')
      return `          <${table}><filter>${escape(conditionOf(analyst))}</filter></${table}>`
    })
    .join('\n')
  return `<clickhouse>
  <users>
    <${definerOf(analyst)}>
      <password_sha256_hex>${noPassword}</password_sha256_hex>
      <networks></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
${grants(definerRights(analyst))}
      </grants>
      <databases>
        <intake>
${filters}
        </intake>
      </databases>
    </${definerOf(analyst)}>
    <${databaseOf(analyst)}>
      <password_sha256_hex>${analyst.passwordSha256}</password_sha256_hex>
      <networks><ip>${network}</ip></networks>
      <profile>analyst</profile>
      <quota>default</quota>
      <grants>
${grants(userRights(analyst))}
      </grants>
      <databases>
        <system><processes><filter>${ownQueries}</filter></processes></system>
      </databases>
    </${databaseOf(analyst)}>
  </users>
</clickhouse>
`
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** What ClickHouse should list of an analyst's rights, in the form that `readRights` returns. */
export const expectedRights = (analyst: Analyst) => ({
  grants: [
    ...definerRights(analyst).map((right) => grantKeys(definerOf(analyst), right)),
    ...userRights(analyst).map((right) => grantKeys(databaseOf(analyst), right)),
  ]
    .flat()
    .toSorted(),
  policies: tablesOfRows.map((kind) => rawTables[kind].name.replace('intake.', '')).toSorted(),
})

const grantKeys = (user: string, { table, columns = [''] }: Right) =>
  columns.map((column) => [user, table, column].join(' ').replace('.*', '.').trim())
