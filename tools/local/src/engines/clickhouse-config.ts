import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The memory limit of the whole server, in bytes. */
const memoryBytesMax = 2 * 1024 ** 3
/** The maximum size of the temporary data of all queries together, in bytes. */
const temporaryBytesMax = 1024 ** 3

const unauthorized =
  'Name a user. Send user and password by basic authentication, or in the headers X-ClickHouse-User and ' +
  'X-ClickHouse-Key, but not in the URL.\n'

const loopback = String.raw`(localhost|127\.0\.0\.1|\[::1\])(:\d+)?`

const queryLog = `<query_log>
    <database>system</database>
    <table>query_log</table>
    <flush_interval_milliseconds>1000</flush_interval_milliseconds>
  </query_log>`

export interface ServerConfigOptions {
  usersFile: string
  /** The folder that `BACKUP … TO File('name')` writes to. */
  backupsDir: string
  /** The engine refuses inserts and merges that would leave less free space than this. */
  keepFreeBytes: number
  logQueries?: boolean | undefined
  /** Path of the page for queries; absent if there is none. */
  playPath?: string | undefined
  /** What a server must know that the embedded engine gets as arguments. */
  server?: { port: number; tablesDir: string } | undefined
}

const ofServer = ({ port, tablesDir }: { port: number; tablesDir: string }) => {
  const folder = (name: string) => escape(`${tablesDir}/${name}/`)
  return `<listen_host>127.0.0.1</listen_host>
  <http_port>${port}</http_port>
  <path>${folder('.')}</path>
  <tmp_path>${folder('tmp')}</tmp_path>
  <user_files_path>${folder('user_files')}</user_files_path>
  <format_schema_path>${folder('format_schemas')}</format_schema_path>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <logger><level>warning</level><console>true</console></logger>`
}

/**
 * Prints the configuration of the server. It answers pages and names of this machine only, because
 * a foreign site can make its own name resolve to 127.0.0.1 (DNS rebinding), and a browser would
 * send the credentials that a person has entered to the requests of any site.
 *
 * Analysts could fill some resources. Sessions keep what was set in them until they end. Cached
 * results and the log of queries keep the content of any query. These resources are limited here
 * and not in the profile, because `SETTINGS x = DEFAULT` bypasses the limits of a profile (seen
 * with 26.7).
 *
 * The text contains no password, because every user can read every file that the engine can read.
 */
export function serverConfig(options: ServerConfigOptions) {
  return `<clickhouse>
  ${options.server === undefined ? '' : ofServer(options.server)}
  <users_config>${escape(options.usersFile)}</users_config>
  <max_server_memory_usage>${memoryBytesMax}</max_server_memory_usage>
  <storage_configuration>
    <disks><default><keep_free_space_bytes>${options.keepFreeBytes}</keep_free_space_bytes></default></disks>
  </storage_configuration>
  <memory_worker_period_ms>1000</memory_worker_period_ms>
  <mark_cache_size>${64 * 1024 ** 2}</mark_cache_size>
  <access_control_improvements>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
    <table_engines_require_grant>true</table_engines_require_grant>
  </access_control_improvements>
  <backups>
    <allowed_path>${escape(options.backupsDir)}</allowed_path>
  </backups>
  <max_temporary_data_on_disk_size>${temporaryBytesMax}</max_temporary_data_on_disk_size>
  <default_session_timeout>1</default_session_timeout>
  <max_session_timeout>1</max_session_timeout>
  <query_cache><max_size_in_bytes>0</max_size_in_bytes><max_entries>0</max_entries></query_cache>
  ${options.logQueries === true ? queryLog : ''}
  <http_handlers>
    <rule>
      <url>/ping</url>
      <handler><type>ping</type></handler>
    </rule>
    ${options.playPath === undefined ? '' : playRule(options.playPath)}
    ${ofThisMachine('<Authorization>regex:.+</Authorization>', queryHandler)}
    ${ofThisMachine('<X-ClickHouse-User>regex:.+</X-ClickHouse-User>', queryHandler)}
    ${ofThisMachine('', loginHandler)}
    <rule>
      <handler>
        <type>static</type>
        <status>403</status>
        <response_content>This port serves pages and names of this machine, such as localhost.\n</response_content>
      </handler>
    </rule>
  </http_handlers>
</clickhouse>
`
}

/** A rule for requests that have these headers, and do not come from a foreign page. */
const ofThisMachine = (headers: string, handler: string) => `<rule>
      <headers>
        <Host>regex:(${loopback})?</Host>
        <Origin>regex:(https?://${loopback})?</Origin>
        <Sec-Fetch-Site>regex:(none|same-origin)?</Sec-Fetch-Site>
        ${headers}
      </headers>
      ${handler}
    </rule>`

const queryHandler = `<handler>
        <type>dynamic_query_handler</type>
        <query_param_name>query</query_param_name>
      </handler>`

const loginHandler = `<url>/</url>
      <handler>
        <type>static</type>
        <status>401</status>
        <http_response_headers><WWW-Authenticate>Basic realm="ClickHouse", charset="UTF-8"</WWW-Authenticate></http_response_headers>
        <response_content>${unauthorized}</response_content>
      </handler>`

/**
 * The engine's page for queries has a secret path, because on a system without terminals, a client
 * that aborts the transfer of the page can end the engine (about once in 350 times).
 */
const playRule = (path: string) => `<rule>
      <url>${path}</url>
      <methods>GET</methods>
      <handler><type>play</type></handler>
    </rule>`

/** A query gets a thread for so much free memory: with the default of 1 GiB only one. */
const memoryPerThread = 128 * 1024 ** 2

/** Analysts may not change these. The file of deployed servers cannot fix what 26.3 lacks. */
const fixedFrom26_6 = [
  'max_threads_min_free_memory_per_thread',
  'query_plan_optimize_join_order_max_searched_plans',
]

/**
 * The engine opens its first session as this user, without a password, and keeps it. It is the only
 * session that this user may have, so nobody else can be this user.
 */
const engineUser = `<default>
      <no_password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>engine</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>`
const engineProfile = '<engine><max_sessions_for_user>1</max_sessions_for_user></engine>'

const deployedFile = new URL('../../../../deploy/clickhouse/users.xml', import.meta.url)

/** Passwords by user. Without a password of `analyst`, there is no such user. */
export type Passwords = Record<'intake' | 'worker' | 'reader', string> & {
  analyst: string | undefined
}

interface UsersOptions {
  /** A server has no user `default`. */
  isServer?: boolean
  /** Default: the users of a deployed server. */
  deployed?: string
}

/**
 * Prints the users of the embedded engine: those of a deployed server, with the same profiles,
 * constraints and grants, but from loopback only. `intake` may also manage users. Throws if the
 * file of the deployed server has an address, a password or a user that this function does not
 * replace.
 */
export function usersConfig(
  { analyst, ...passwords }: Passwords,
  { isServer = false, deployed = readFileSync(deployedFile, 'utf8') }: UsersOptions = {},
) {
  const edits: [found: RegExp, replacement: string][] = [
    [/<default remove="remove"\/>/, isServer ? '' : engineUser],
    [/<\/profiles>/, `${engineProfile}</profiles>`],
    [
      /<grants>\s*<query>GRANT ALL ON intake\.[^]*?<\/grants>/,
      '<access_management>1</access_management>',
    ],
    [
      /<constraints>(?=\s*<final>)/,
      `<max_threads_min_free_memory_per_thread>${memoryPerThread}</max_threads_min_free_memory_per_thread>
            <constraints>
                ${fixedFrom26_6.map((name) => `<${name}><const/></${name}>`).join('')}`,
    ],
    [/<\/users>/, '</users><quotas><default/></quotas>'],
    ...Object.entries(passwords).map(passwordEdit),
    analyst === undefined
      ? [/<analyst>\s*<password[^]*?<\/analyst>/, '']
      : passwordEdit(['analyst', analyst]),
  ]
  let config = deployed.replaceAll(/<!--[^]*?-->/g, '').replaceAll('<ip>::/0<', '<ip>127.0.0.1<')
  for (const [found, replacement] of edits) {
    const parts = config.split(found)
    if (parts.length !== 2) throw new Error(`users.xml has ${found} ${parts.length - 1} times`)
    config = parts.join(replacement)
  }
  // The deployed file has attributes only where something must be replaced (`from_env`, `remove`).
  // So an attribute that is left, or an address other than loopback, was overlooked.
  const [left] = /<\w+\s+\w.*|<ip>(?!127\.0\.0\.1<).*|<host.*/.exec(config) ?? []
  if (left !== undefined) throw new Error(`users.xml has ${left}`)
  return config
}

function passwordEdit([user, password]: [string, string]): [RegExp, string] {
  const hex = hash('sha256', password)
  return [
    new RegExp(` from_env="CLICKHOUSE_${user.toUpperCase()}_PASSWORD_SHA256"/>`),
    `>${hex}</password_sha256_hex>`,
  ]
}

function escape(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
