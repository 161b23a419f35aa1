import { createHash } from 'node:crypto'
import { analystConstraints } from './analyst-limits.ts'
import { analystGrants, readerGrants, workerGrants } from './clickhouse-grants.ts'

const userNames = ['intake', 'worker', 'reader', 'analyst']
/** The maximum size of the temporary data of all queries together, in bytes. */
const temporaryBytesMax = 1024 ** 3

const queryLog = `<query_log>
    <database>system</database>
    <table>query_log</table>
    <flush_interval_milliseconds>1000</flush_interval_milliseconds>
  </query_log>`

export interface ServerConfigOptions {
  usersFile: string
  memoryBytesMax: number
  /** The folder that `BACKUP … TO File('name')` writes to. */
  backupsDir: string
  /** The engine refuses inserts and merges that would leave less free space than this. */
  keepFreeBytes: number
  /** Whether queries are logged to `system.query_log`. */
  logQueries?: boolean | undefined
  /** Path of the page for queries; absent if there is none. */
  playPath?: string | undefined
}

/**
 * Prints the configuration of the server. The engine opens its first session from loopback as the
 * user `default`, without a password. This cannot be configured, so HTTP requests must be kept from
 * using that user. Each request must name another user in the header `X-ClickHouse-User`. The
 * engine then refuses URL parameters that name a different user. With basic authentication it would
 * obey such parameters, so requests with basic authentication get 401. Only `/ping` and the page
 * for queries (`playRules`) need no such header.
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
  <users_config>${escape(options.usersFile)}</users_config>
  <max_server_memory_usage>${options.memoryBytesMax}</max_server_memory_usage>
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
    <rule>
      <headers><X-ClickHouse-User>regex:(${userNames.join('|')})</X-ClickHouse-User></headers>
      ${queryHandler()}
    </rule>
    ${options.playPath === undefined ? '' : playRules(options.playPath)}
    <rule>
      <handler>
        <type>static</type>
        <status>401</status>
        <response_content>Name a user: ${userNames.join(', ')}.</response_content>
      </handler>
    </rule>
  </http_handlers>
</clickhouse>
`
}

/**
 * Rules for the engine's page for queries. The page sends user and password as URL parameters,
 * which rules cannot check. A rule that accepts these parameters would therefore also accept the
 * user `default`. So the page and its queries have a secret path, which is only in the link to the
 * page. Every request to that path has the user `analyst`, even if its parameters name another
 * user. The page has no other path, because a client that aborts the transfer of the page can end
 * the engine (about once in 350 times).
 */
function playRules(path: string) {
  return `<rule>
      <url>${path}</url>
      <methods>GET</methods>
      <handler><type>play</type></handler>
    </rule>
    <rule>
      <url>/</url>
      <methods>OPTIONS</methods>
      <handler><type>static</type><status>204</status><response_content></response_content></handler>
    </rule>
    <rule>
      <url>${path}</url>
      <methods>POST</methods>
      ${queryHandler('<user>analyst</user>')}
    </rule>`
}

/**
 * Prints a handler for queries.
 *
 * @param credentials XML that sets one user for all requests; without it, each request is
 * authenticated by the credentials in the request
 */
function queryHandler(credentials = '') {
  return `<handler>
        <type>dynamic_query_handler</type>
        <query_param_name>query</query_param_name>
        ${credentials}
      </handler>`
}

/**
 * The engine gives a query one thread for each portion of free memory of this size, in bytes. The
 * default is 1 GiB. This engine may use little memory, so with the default a query would get only
 * one thread.
 */
const memoryPerThread = 128 * 1024 ** 2

/**
 * Settings for queries on params: a key with a dot is printed as it was sent, `intake_number` is
 * exact, and `GROUP BY params.x` works. The first setting is only for speed: with FINAL, a
 * condition on `id` or `device_uuid` is evaluated before the other columns are read.
 */
const readerSettings = `<optimize_move_to_prewhere_if_final>1</optimize_move_to_prewhere_if_final>
      <json_type_escape_dots_in_keys>1</json_type_escape_dots_in_keys>
      <precise_float_parsing>1</precise_float_parsing>
      <allow_suspicious_types_in_group_by>1</allow_suspicious_types_in_group_by>
      <allow_suspicious_types_in_order_by>1</allow_suspicious_types_in_order_by>`

export interface Passwords {
  password: string
  workerPassword: string
  readerPassword: string
  /** Absent if there is no user `analyst`. */
  analystPassword?: string | undefined
}

export function usersConfig(passwords: Passwords) {
  const { password, workerPassword, readerPassword, analystPassword } = passwords
  return `<clickhouse>
  <profiles>
    <default>
      <async_insert>0</async_insert>
      ${readerSettings}
    </default>
    <analyst>
      ${readerSettings}
      <readonly>2</readonly>
      <final>1</final>
      <session_timezone>UTC</session_timezone>
      <output_format_json_escape_forward_slashes>0</output_format_json_escape_forward_slashes>
      <use_skip_indexes_if_final_exact_mode>1</use_skip_indexes_if_final_exact_mode>
      <max_execution_time>30</max_execution_time>
      <max_memory_usage>${1024 ** 3}</max_memory_usage>
      <max_memory_usage_for_user>${1024 ** 3}</max_memory_usage_for_user>
      <max_threads_min_free_memory_per_thread>${memoryPerThread}</max_threads_min_free_memory_per_thread>
      <max_temporary_data_on_disk_size_for_user>${1024 ** 3}</max_temporary_data_on_disk_size_for_user>
      <max_concurrent_queries_for_user>10</max_concurrent_queries_for_user>
      <max_result_rows>1000000</max_result_rows>
      <result_overflow_mode>throw</result_overflow_mode>
      <constraints>
        ${analystConstraints.join('\n        ')}
      </constraints>
    </analyst>
    <reader>
      <profile>analyst</profile>
      <max_memory_usage>${512 * 1024 ** 2}</max_memory_usage>
      <max_memory_usage_for_user>${768 * 1024 ** 2}</max_memory_usage_for_user>
      <max_concurrent_queries_for_user>50</max_concurrent_queries_for_user>
    </reader>
  </profiles>
  <users>
    <default>
      <no_password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>
    <intake>
      ${passwordHash(password)}
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
    </intake>
    ${limitedUser({ name: 'worker', password: workerPassword, profile: 'default', grants: workerGrants })}
    ${limitedUser({ name: 'reader', password: readerPassword, profile: 'reader', grants: readerGrants })}
    ${
      analystPassword === undefined
        ? ''
        : limitedUser({
            name: 'analyst',
            password: analystPassword,
            profile: 'analyst',
            grants: analystGrants,
          })
    }
  </users>
  <quotas><default/></quotas>
</clickhouse>
`
}

function limitedUser(user: {
  name: string
  password: string
  profile: string
  grants: readonly string[]
}) {
  const grants = user.grants.map((grant) => `<query>GRANT ${grant}</query>`)
  return `<${user.name}>
      ${passwordHash(user.password)}
      <networks><ip>127.0.0.1</ip></networks>
      <profile>${user.profile}</profile>
      <quota>default</quota>
      <grants>${grants.join('')}</grants>
    </${user.name}>`
}

function passwordHash(password: string) {
  const hex = createHash('sha256').update(password).digest('hex')
  return `<password_sha256_hex>${hex}</password_sha256_hex>`
}

function escape(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
