import { quoteWord } from '@intake/runtime'

export interface Access {
  host: string
  port: number
  user: string
  password: string
  isSecure: boolean
}

/** A text in Python, JavaScript or SQL. A plain value looks the same as in docs/connect.md. */
const quoted = (value: string) => `'${value.replaceAll(/['\\]/g, '\\$&')}'`

const yaml = (value: string) => `'${value.replaceAll("'", "''")}'`

/**
 * The tools of analysts that were tried, by name, in the order of docs/connect.md: a title, and
 * below it what to type or to fill in.
 */
export function toolsFor({ host, port, user, password, isSecure }: Access): Record<string, string> {
  const url = `${isSecure ? 'https' : 'http'}://${host}:${port}`
  const login = quoteWord(`${user}:${password}`)
  const onOff = isSecure ? 'on' : 'off'
  return {
    python: `Python: clickhouse-connect, pandas, polars
import clickhouse_connect  # also pip install pandas or polars
client = clickhouse_connect.get_client(host='${host}', port=${port}, username=${quoted(user)}, password=${quoted(password)}${isSecure ? ', secure=True' : ''}, tz_mode='aware')`,
    superset: `Superset and SQLAlchemy
clickhousedb://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/intake${isSecure ? '?secure=true' : ''}`,
    dbeaver: `DBeaver and JDBC: the URL, then properties of the driver
jdbc:clickhouse://${host}:${port}/intake${isSecure ? '?ssl=true' : ''}
user=${user}
password=${password}
clickhouse_setting_output_format_binary_write_json_as_string=1
retry=0`,
    metabase: `Metabase
Host: ${host}
Port: ${port}
Username: ${user}
Password: ${password}
Databases: intake
Use a secure connection (SSL): ${onOff}`,
    grafana: `Grafana: the ClickHouse data source
Server address: ${host}
Server port: ${port}
Protocol: HTTP
Secure connection: ${onOff}
Username: ${user}
Password: ${password}
Query timeout: 120`,
    go: `Go: clickhouse-go
db := clickhouse.OpenDB(&clickhouse.Options{
  Addr: []string{"${host}:${port}"}, Protocol: clickhouse.HTTP,${isSecure ? ' TLS: &tls.Config{},' : ''}
  Auth: clickhouse.Auth{Database: "intake", Username: ${JSON.stringify(user)}, Password: ${JSON.stringify(password)}},
})`,
    // Without a line of its own, test/manifests.test.ts does not take it for an import of this file.
    npm: `npm: @clickhouse/client\nimport { createClient } from '@clickhouse/client'
const client = createClient({
  url: '${url}',
  username: ${quoted(user)},
  password: ${quoted(password)},
  clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
})`,
    duckdb: `DuckDB: a Parquet file, then read it
curl -sS -u ${login} ${url} -d 'SELECT * FROM intake.logs LIMIT 100000 FORMAT Parquet' -o logs.parquet`,
    chdb: `chDB
SELECT * FROM url('${url}/?query=SELECT+*+FROM+intake.logs+LIMIT+1000+FORMAT+Parquet',
  'Parquet', headers('X-ClickHouse-User' = ${quoted(user)}, 'X-ClickHouse-Key' = ${quoted(password)}))`,
    mcp: `MCP: the environment of mcp-clickhouse
CLICKHOUSE_HOST=${host}
CLICKHOUSE_PORT=${port}
CLICKHOUSE_USER=${user}
CLICKHOUSE_PASSWORD=${password}
CLICKHOUSE_SECURE=${isSecure}`,
    dbt: `dbt: an output in profiles.yml; models need the user intake_dbt (docs/connect.md)
type: clickhouse
host: ${host}
port: ${port}
user: ${yaml(user)}
password: ${yaml(password)}
schema: intake
secure: ${isSecure}`,
    curl: `curl
curl -sS -u ${login} ${url} -d 'SELECT * FROM intake.recent FORMAT PrettyCompact'`,
  }
}
