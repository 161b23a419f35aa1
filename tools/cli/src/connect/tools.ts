export interface Access {
  host: string
  port: number
  user: string
  password: string
  isSecure: boolean
}

interface Tool {
  name: string
  title: string
  /** What to type or to fill in, one line each. docs/connect.md has the same lines. */
  lines(access: Access & { url: string }): string[]
}

/** The tools of analysts that were tried, in the order of docs/connect.md. */
export const tools: readonly Tool[] = [
  {
    name: 'python',
    title: 'Python: clickhouse-connect, pandas, polars',
    lines: ({ host, port, user, password, isSecure }) => [
      'import clickhouse_connect  # also pip install pandas or polars',
      `client = clickhouse_connect.get_client(host='${host}', port=${port}, username='${user}', password='${password}'${isSecure ? ', secure=True' : ''}, tz_mode='aware')`,
    ],
  },
  {
    name: 'superset',
    title: 'Superset and SQLAlchemy',
    lines: ({ host, port, user, password, isSecure }) => [
      `clickhousedb://${user}:${password}@${host}:${port}/intake${isSecure ? '?secure=true' : ''}`,
    ],
  },
  {
    name: 'dbeaver',
    title: 'DBeaver and JDBC: the URL, then properties of the driver',
    lines: ({ host, port, user, password, isSecure }) => [
      `jdbc:clickhouse://${host}:${port}/intake${isSecure ? '?ssl=true' : ''}`,
      `user=${user}`,
      `password=${password}`,
      'clickhouse_setting_output_format_binary_write_json_as_string=1',
      'retry=0',
    ],
  },
  {
    name: 'metabase',
    title: 'Metabase',
    lines: ({ host, port, user, password, isSecure }) => [
      `Host: ${host}`,
      `Port: ${port}`,
      `Username: ${user}`,
      `Password: ${password}`,
      'Databases: intake',
      `Use a secure connection (SSL): ${isSecure ? 'on' : 'off'}`,
    ],
  },
  {
    name: 'grafana',
    title: 'Grafana: the ClickHouse data source',
    lines: ({ host, port, user, password, isSecure }) => [
      `Server address: ${host}`,
      `Server port: ${port}`,
      'Protocol: HTTP',
      `Secure connection: ${isSecure ? 'on' : 'off'}`,
      `Username: ${user}`,
      `Password: ${password}`,
      'Query timeout: 120',
    ],
  },
  {
    name: 'go',
    title: 'Go: clickhouse-go',
    lines: ({ host, port, user, password, isSecure }) => [
      'db := clickhouse.OpenDB(&clickhouse.Options{',
      `  Addr: []string{"${host}:${port}"}, Protocol: clickhouse.HTTP,${isSecure ? ' TLS: &tls.Config{},' : ''}`,
      `  Auth: clickhouse.Auth{Database: "intake", Username: "${user}", Password: "${password}"},`,
      '})',
    ],
  },
  {
    name: 'npm',
    title: 'npm: @clickhouse/client',
    lines: ({ url, user, password }) => [
      "import { createClient } from '@clickhouse/client'",
      'const client = createClient({',
      `  url: '${url}',`,
      `  username: '${user}',`,
      `  password: '${password}',`,
      '  clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },',
      '})',
    ],
  },
  {
    name: 'duckdb',
    title: 'DuckDB: a Parquet file, then read it',
    lines: ({ url, user, password }) => [
      `curl -sS -u ${user}:${password} ${url} -d 'SELECT * FROM intake.logs LIMIT 100000 FORMAT Parquet' -o logs.parquet`,
    ],
  },
  {
    name: 'chdb',
    title: 'chDB',
    lines: ({ url, user, password }) => [
      `SELECT * FROM url('${url}/?query=SELECT+*+FROM+intake.logs+LIMIT+1000+FORMAT+Parquet',`,
      `  'Parquet', headers('X-ClickHouse-User' = '${user}', 'X-ClickHouse-Key' = '${password}'))`,
    ],
  },
  {
    name: 'mcp',
    title: 'MCP: the environment of mcp-clickhouse',
    lines: ({ host, port, user, password, isSecure }) => [
      `CLICKHOUSE_HOST=${host}`,
      `CLICKHOUSE_PORT=${port}`,
      `CLICKHOUSE_USER=${user}`,
      `CLICKHOUSE_PASSWORD=${password}`,
      `CLICKHOUSE_SECURE=${isSecure}`,
    ],
  },
  {
    name: 'dbt',
    title: 'dbt: an output in profiles.yml, for checks and source freshness',
    lines: ({ host, port, user, password, isSecure }) => [
      'type: clickhouse',
      `host: ${host}`,
      `port: ${port}`,
      `user: ${user}`,
      `password: ${password}`,
      'schema: intake',
      `secure: ${isSecure}`,
    ],
  },
  {
    name: 'curl',
    title: 'curl',
    lines: ({ url, user, password }) => [
      `curl -sS -u ${user}:${password} ${url} -d 'SELECT * FROM intake.recent FORMAT PrettyCompact'`,
    ],
  },
]

export function linesOf(tool: Tool, access: Access): string[] {
  const { host, port, isSecure } = access
  const scheme = isSecure ? 'https' : 'http'
  return tool.lines({ ...access, url: `${scheme}://${host}:${port}` })
}
