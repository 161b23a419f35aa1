import { Readable } from 'node:stream'
import { createClient } from '@clickhouse/client'

/** The table `logs_raw` of the database that belongs to this variant. */
export interface Table {
  insert(lines: string[]): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the table of this variant.
 *
 * @param options.connectionsMax the maximum number of concurrent inserts
 */
export function openTable(options: { connectionsMax: number }): Table {
  const url = new URL(process.env['CLICKHOUSE_URL'] ?? '')
  const { username, password } = url
  // The embedded ClickHouse has no basic authentication.
  url.username = url.password = ''
  const client = createClient({
    url,
    set_basic_auth_header: false,
    http_headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
    max_open_connections: options.connectionsMax,
    keep_alive: { idle_socket_ttl: 2_500 },
    clickhouse_settings: {
      async_insert: 0,
      wait_end_of_query: 1,
      date_time_input_format: 'best_effort',
    },
  })
  const table = `${process.env['DATABASE']}.logs_raw`
  return {
    async insert(lines) {
      const { stream } = await client.exec({
        query: `INSERT INTO ${table} FORMAT JSONEachRow`,
        values: Readable.from([lines.join('\n')], { objectMode: false }),
      })
      stream.resume()
    },
    close: () => client.close(),
  }
}
