import { createHash } from 'node:crypto'

/**
 * The engine opens its first session as `default`, without a password, from loopback; this cannot be
 * configured. So `default` may only start the server, and no HTTP request can use it: a request that does
 * not name another user gets 401 before it reaches the engine.
 */
export function serverConfig(options: { usersFile: string; memoryBytesMax: number }) {
  const query =
    '<handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler>'
  const basic = ['intake:', 'analyst:'].map(base64Start).join('|')
  return `<clickhouse>
  <users_config>${escape(options.usersFile)}</users_config>
  <timezone>UTC</timezone>
  <max_server_memory_usage>${options.memoryBytesMax}</max_server_memory_usage>
  <mark_cache_size>${64 * 1024 ** 2}</mark_cache_size>
  <access_control_improvements>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
    <table_engines_require_grant>true</table_engines_require_grant>
  </access_control_improvements>
  <query_log>
    <database>system</database>
    <table>query_log</table>
    <ttl>event_date + INTERVAL 3 DAY DELETE</ttl>
    <flush_interval_milliseconds>1000</flush_interval_milliseconds>
  </query_log>
  <http_handlers>
    <rule>
      <url>/ping</url>
      <handler><type>ping</type></handler>
    </rule>
    <rule>
      <headers><Authorization>regex:Basic (${basic}).*</Authorization></headers>
      ${query}
    </rule>
    <rule>
      <headers><X-ClickHouse-User>regex:(intake|analyst)</X-ClickHouse-User></headers>
      ${query}
    </rule>
    <rule>
      <handler>
        <type>static</type>
        <status>401</status>
        <response_content>Name a user: intake or analyst.</response_content>
      </handler>
    </rule>
  </http_handlers>
</clickhouse>
`
}

/** The views that analysts may read. The raw tables are excluded: they show deleted and duplicate rows. */
const analystViews = ['logs', 'feedback', 'dead_letters']

/**
 * For queries on params: a key with a dot prints as it was sent, and `GROUP BY params.x` works. With FINAL a
 * condition on `id` or `device_uuid` is evaluated before the other columns are read.
 */
const readerSettings = `<optimize_move_to_prewhere_if_final>1</optimize_move_to_prewhere_if_final>
      <json_type_escape_dots_in_keys>1</json_type_escape_dots_in_keys>
      <allow_suspicious_types_in_group_by>1</allow_suspicious_types_in_group_by>
      <allow_suspicious_types_in_order_by>1</allow_suspicious_types_in_order_by>`

/** @param options.analystPassword when absent, there is no user `analyst` */
export function usersConfig(options: { password: string; analystPassword?: string }) {
  const { password, analystPassword } = options
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
      <max_execution_time>30</max_execution_time>
      <max_memory_usage>${1024 ** 3}</max_memory_usage>
      <max_result_rows>1000000</max_result_rows>
      <result_overflow_mode>throw</result_overflow_mode>
      <constraints>
        <max_execution_time><min>1</min><max>120</max></max_execution_time>
        <max_memory_usage><min>1</min><max>${1024 ** 3}</max></max_memory_usage>
      </constraints>
    </analyst>
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
    ${analystPassword === undefined ? '' : analystUser(analystPassword)}
  </users>
  <quotas><default/></quotas>
</clickhouse>
`
}

function analystUser(password: string) {
  const grants = analystViews.map((view) => `<query>GRANT SELECT ON intake.${view}</query>`)
  return `<analyst>
      ${passwordHash(password)}
      <networks><ip>127.0.0.1</ip></networks>
      <profile>analyst</profile>
      <quota>default</quota>
      <grants>${grants.join('')}</grants>
    </analyst>`
}

function passwordHash(password: string) {
  const hex = createHash('sha256').update(password).digest('hex')
  return `<password_sha256_hex>${hex}</password_sha256_hex>`
}

/** The base64 characters that are the same for every text with this start. */
function base64Start(start: string) {
  const wholeCharacters = Math.floor((start.length * 8) / 6)
  return Buffer.from(start).toString('base64').slice(0, wholeCharacters)
}

function escape(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
