export interface Access {
  host: string
  port: number
  user: string
  password: string
  isSecure: boolean
}

interface Tool {
  title: string
  /**
   * What to type or to fill in, as in docs/connect.md, with names of `Access` in brackets; the name
   * of a writer says how the text quotes the value.
   */
  text: string
}

/** The tools of analysts that were tried, by name, in the order of docs/connect.md. */
const tools: Readonly<Record<string, Tool>> = {
  python: {
    title: 'Python: clickhouse-connect, pandas, polars',
    text: `import clickhouse_connect  # also pip install pandas or polars
client = clickhouse_connect.get_client(host='<host>', port=<port>, username=<user quoted>, password=<password quoted><if secure>, secure=True<end>, tz_mode='aware')`,
  },
  superset: {
    title: 'Superset and SQLAlchemy',
    text: `clickhousedb://<user uri>:<password uri>@<host>:<port>/intake<if secure>?secure=true<end>`,
  },
  dbeaver: {
    title: 'DBeaver and JDBC: the URL, then properties of the driver',
    text: `jdbc:clickhouse://<host>:<port>/intake<if secure>?ssl=true<end>
user=<user>
password=<password>
clickhouse_setting_output_format_binary_write_json_as_string=1
retry=0`,
  },
  metabase: {
    title: 'Metabase',
    text: `Host: <host>
Port: <port>
Username: <user>
Password: <password>
Databases: intake
Use a secure connection (SSL): <onOff>`,
  },
  grafana: {
    title: 'Grafana: the ClickHouse data source',
    text: `Server address: <host>
Server port: <port>
Protocol: HTTP
Secure connection: <onOff>
Username: <user>
Password: <password>
Query timeout: 120`,
  },
  go: {
    title: 'Go: clickhouse-go',
    text: `db := clickhouse.OpenDB(&clickhouse.Options{
  Addr: []string{"<host>:<port>"}, Protocol: clickhouse.HTTP,<if secure> TLS: &tls.Config{},<end>
  Auth: clickhouse.Auth{Database: "intake", Username: <user json>, Password: <password json>},
})`,
  },
  npm: {
    title: 'npm: @clickhouse/client',
    text: `import { createClient } from '@clickhouse/client'
const client = createClient({
  url: '<url>',
  username: <user quoted>,
  password: <password quoted>,
  clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
})`,
  },
  duckdb: {
    title: 'DuckDB: a Parquet file, then read it',
    text: `curl -sS -u <login shell> <url> -d 'SELECT * FROM intake.logs LIMIT 100000 FORMAT Parquet' -o logs.parquet`,
  },
  chdb: {
    title: 'chDB',
    text: `SELECT * FROM url('<url>/?query=SELECT+*+FROM+intake.logs+LIMIT+1000+FORMAT+Parquet',
  'Parquet', headers('X-ClickHouse-User' = <user quoted>, 'X-ClickHouse-Key' = <password quoted>))`,
  },
  mcp: {
    title: 'MCP: the environment of mcp-clickhouse',
    text: `CLICKHOUSE_HOST=<host>
CLICKHOUSE_PORT=<port>
CLICKHOUSE_USER=<user>
CLICKHOUSE_PASSWORD=<password>
CLICKHOUSE_SECURE=<isSecure>`,
  },
  dbt: {
    title: 'dbt: an output in profiles.yml; models have a user of their own',
    text: `type: clickhouse
host: <host>
port: <port>
user: <user yaml>
password: <password yaml>
schema: intake
secure: <isSecure>`,
  },
  curl: {
    title: 'curl',
    text: `curl -sS -u <login shell> <url> -d 'SELECT * FROM intake.recent FORMAT PrettyCompact'`,
  },
}

/** What keeps a value whole in its text. A plain value looks the same as in docs/connect.md. */
const writers: Readonly<Record<string, (value: string) => string>> = {
  json: (value) => JSON.stringify(value),
  quoted: (value) => `'${value.replaceAll(/['\\]/g, '\\$&')}'`,
  shell: (value) => (/^[\w.:-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`),
  uri: encodeURIComponent,
  yaml: (value) => `'${value.replaceAll("'", "''")}'`,
}

export const toolNames = Object.keys(tools)

/** Fills in how to connect. */
export function toolsFor(access: Access): Record<string, Tool> {
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
  return Object.fromEntries(
    Object.entries(tools).map(([name, { title, text }]) => [name, { title, text: fill(text) }]),
  )
}
