import { quoteWord } from '@intake/runtime'

export interface Access {
  host: string
  port: number
  user: string
  password: string
  isSecure: boolean
}

/**
 * The tools of analysts that were tried, by name, in the order of docs/connect.md: a title, and
 * below it what to type or to fill in, with names of `Access` in brackets. The name of a writer
 * says how the text quotes the value.
 */
const tools: Readonly<Record<string, string>> = {
  python: `Python: clickhouse-connect, pandas, polars
import clickhouse_connect  # also pip install pandas or polars
client = clickhouse_connect.get_client(host='<host>', port=<port>, username=<user quoted>, password=<password quoted><if secure>, secure=True<end>, tz_mode='aware')`,
  superset: `Superset and SQLAlchemy
clickhousedb://<user uri>:<password uri>@<host>:<port>/intake<if secure>?secure=true<end>`,
  dbeaver: `DBeaver and JDBC: the URL, then properties of the driver
jdbc:clickhouse://<host>:<port>/intake<if secure>?ssl=true<end>
user=<user>
password=<password>
clickhouse_setting_output_format_binary_write_json_as_string=1
retry=0`,
  metabase: `Metabase
Host: <host>
Port: <port>
Username: <user>
Password: <password>
Databases: intake
Use a secure connection (SSL): <onOff>`,
  grafana: `Grafana: the ClickHouse data source
Server address: <host>
Server port: <port>
Protocol: HTTP
Secure connection: <onOff>
Username: <user>
Password: <password>
Query timeout: 120`,
  go: `Go: clickhouse-go
db := clickhouse.OpenDB(&clickhouse.Options{
  Addr: []string{"<host>:<port>"}, Protocol: clickhouse.HTTP,<if secure> TLS: &tls.Config{},<end>
  Auth: clickhouse.Auth{Database: "intake", Username: <user json>, Password: <password json>},
})`,
  // Without a line of its own, test/manifests.test.ts does not take it for an import of this file.
  npm: `npm: @clickhouse/client\nimport { createClient } from '@clickhouse/client'
const client = createClient({
  url: '<url>',
  username: <user quoted>,
  password: <password quoted>,
  clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
})`,
  duckdb: `DuckDB: a Parquet file, then read it
curl -sS -u <login shell> <url> -d 'SELECT * FROM intake.logs LIMIT 100000 FORMAT Parquet' -o logs.parquet`,
  chdb: `chDB
SELECT * FROM url('<url>/?query=SELECT+*+FROM+intake.logs+LIMIT+1000+FORMAT+Parquet',
  'Parquet', headers('X-ClickHouse-User' = <user quoted>, 'X-ClickHouse-Key' = <password quoted>))`,
  mcp: `MCP: the environment of mcp-clickhouse
CLICKHOUSE_HOST=<host>
CLICKHOUSE_PORT=<port>
CLICKHOUSE_USER=<user>
CLICKHOUSE_PASSWORD=<password>
CLICKHOUSE_SECURE=<isSecure>`,
  dbt: `dbt: an output in profiles.yml; models need the user intake_dbt (docs/connect.md)
type: clickhouse
host: <host>
port: <port>
user: <user yaml>
password: <password yaml>
schema: intake
secure: <isSecure>`,
  curl: `curl
curl -sS -u <login shell> <url> -d 'SELECT * FROM intake.recent FORMAT PrettyCompact'`,
}

/** What keeps a value whole in its text. A plain value looks the same as in docs/connect.md. */
const writers: Readonly<Record<string, (value: string) => string>> = {
  json: (value) => JSON.stringify(value),
  quoted: (value) => `'${value.replaceAll(/['\\]/g, '\\$&')}'`,
  shell: quoteWord,
  uri: encodeURIComponent,
  yaml: (value) => `'${value.replaceAll("'", "''")}'`,
}

export const toolNames = Object.keys(tools)

/** Returns the text of each tool, with how to connect. */
export function toolsFor(access: Access): Record<string, string> {
  const { host, port, isSecure } = access
  const url = `${isSecure ? 'https' : 'http'}://${host}:${port}`
  const login = `${access.user}:${access.password}`
  const values: Record<string, unknown> = { ...access, url, login, onOff: isSecure ? 'on' : 'off' }
  const fill = (text: string) =>
    text
      .replaceAll(/<if secure>(.*?)<end>/g, isSecure ? '$1' : '')
      .replaceAll(/<(\w+) ?(\w+)?>/g, (_, name: string, writer = '') => {
        const value = String(values[name])
        return writers[writer]?.(value) ?? value
      })
  return Object.fromEntries(Object.entries(tools).map(([name, text]) => [name, fill(text)]))
}
