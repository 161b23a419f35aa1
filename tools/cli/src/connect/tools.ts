export interface Access {
  host: string
  port: number
  user: string
  password: string
  isSecure: boolean
}

interface Tool {
  title: string
  /** What to type or to fill in. docs/connect.md has the same text. */
  text: string
}

/** The tools of analysts that were tried, by name, in the order of docs/connect.md. */
export function toolsFor({ host, port, user, password, isSecure }: Access): Record<string, Tool> {
  const url = `${isSecure ? 'https' : 'http'}://${host}:${port}`
  const onOff = isSecure ? 'on' : 'off'
  return {
    python: {
      title: 'Python: clickhouse-connect, pandas, polars',
      text: `import clickhouse_connect  # also pip install pandas or polars
client = clickhouse_connect.get_client(host='${host}', port=${port}, username='${user}', password='${password}'${isSecure ? ', secure=True' : ''}, tz_mode='aware')`,
    },
    superset: {
      title: 'Superset and SQLAlchemy',
      text: `clickhousedb://${user}:${password}@${host}:${port}/intake${isSecure ? '?secure=true' : ''}`,
    },
    dbeaver: {
      title: 'DBeaver and JDBC: the URL, then properties of the driver',
      text: `jdbc:clickhouse://${host}:${port}/intake${isSecure ? '?ssl=true' : ''}
user=${user}
password=${password}
clickhouse_setting_output_format_binary_write_json_as_string=1
retry=0`,
    },
    metabase: {
      title: 'Metabase',
      text: `Host: ${host}
Port: ${port}
Username: ${user}
Password: ${password}
Databases: intake
Use a secure connection (SSL): ${onOff}`,
    },
    grafana: {
      title: 'Grafana: the ClickHouse data source',
      text: `Server address: ${host}
Server port: ${port}
Protocol: HTTP
Secure connection: ${onOff}
Username: ${user}
Password: ${password}
Query timeout: 120`,
    },
    go: {
      title: 'Go: clickhouse-go',
      text: `db := clickhouse.OpenDB(&clickhouse.Options{
  Addr: []string{"${host}:${port}"}, Protocol: clickhouse.HTTP,${isSecure ? ' TLS: &tls.Config{},' : ''}
  Auth: clickhouse.Auth{Database: "intake", Username: "${user}", Password: "${password}"},
})`,
    },
    npm: {
      title: 'npm: @clickhouse/client',
      text: `import { createClient } from '@clickhouse/client'
const client = createClient({
  url: '${url}',
  username: '${user}',
  password: '${password}',
  clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
})`,
    },
    duckdb: {
      title: 'DuckDB: a Parquet file, then read it',
      text: `curl -sS -u ${user}:${password} ${url} -d 'SELECT * FROM intake.logs LIMIT 100000 FORMAT Parquet' -o logs.parquet`,
    },
    chdb: {
      title: 'chDB',
      text: `SELECT * FROM url('${url}/?query=SELECT+*+FROM+intake.logs+LIMIT+1000+FORMAT+Parquet',
  'Parquet', headers('X-ClickHouse-User' = '${user}', 'X-ClickHouse-Key' = '${password}'))`,
    },
    mcp: {
      title: 'MCP: the environment of mcp-clickhouse',
      text: `CLICKHOUSE_HOST=${host}
CLICKHOUSE_PORT=${port}
CLICKHOUSE_USER=${user}
CLICKHOUSE_PASSWORD=${password}
CLICKHOUSE_SECURE=${isSecure}`,
    },
    dbt: {
      title: 'dbt: an output in profiles.yml; models have a user of their own',
      text: `type: clickhouse
host: ${host}
port: ${port}
user: ${user}
password: ${password}
schema: intake
secure: ${isSecure}`,
    },
    curl: {
      title: 'curl',
      text: `curl -sS -u ${user}:${password} ${url} -d 'SELECT * FROM intake.recent FORMAT PrettyCompact'`,
    },
  }
}
