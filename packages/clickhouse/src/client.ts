import { ClickHouseLogLevel, type ClickHouseSettings } from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import { createEndpoints, type Execute } from './endpoints.ts'
import { ClickHouseError } from './errors.ts'
import type { Statement } from './execute.ts'
import { insertStatement, plainInsert, type DescribedColumn } from './insert-statement.ts'
import {
  clusterSettings,
  insertSelectSettings,
  insertSettings,
  querySettings,
  quorumSettings,
  statementSettings,
} from './settings.ts'
import { rawTables, type RawTable } from './tables.ts'

export interface ClickHouseOptions {
  /**
   * `http(s)://user:password@host:port`, percent-encoded. Several URLs, separated by commas:
   * servers with the same data, of which the first that responds is used. Each request calls
   * `current()` for its user and password.
   */
  url: string | { current(): string }
  /** Whether to start with a random URL, so that processes use different servers. Default false. */
  spread?: boolean
  /** The cluster that has the tables (`remote_servers`); undefined for a single server. */
  cluster?: string | undefined
  /** How many replicas of a shard must store rows before `insertRows` resolves; default one. */
  insertQuorum?: 'auto' | number | undefined
  /** Timeout from the call to the last byte of the response, default 30,000. */
  requestTimeoutMs?: number
  /** Maximum number of sockets. Further requests wait, within their timeout. Default 10. */
  connectionsMax?: number
  /** Whether ClickHouse writes statements, with their params, to its query_log. Default true. */
  logQueries?: boolean
}

export interface InsertRows {
  table: RawTable
  coding?: 'gzip' | 'zstd' | undefined
  /** Complete compressed members of NDJSON rows; their concatenation is the request body. */
  members: readonly Buffer[]
  rows: number
  /** Abandons the request; the rows may still be stored. */
  signal?: AbortSignal | undefined
}

/**
 * Every method rejects only with `ClickHouseError`, and within `requestTimeoutMs`; an insert that
 * first reads the columns of its table, within twice that.
 */
export interface ClickHouse {
  readonly cluster?: string | undefined
  /**
   * Stores all rows with one insert. Resolves only when ClickHouse has confirmed exactly `rows`
   * written rows. After a failure of kind `rejected` nothing was stored, after any other kind
   * perhaps. The same rows may be inserted again at any time: the views show a row once.
   */
  insertRows(insert: InsertRows): Promise<void>
  /** Runs a statement that returns rows. 64-bit integers become numbers. */
  query<Row = Record<string, unknown>>(
    sql: string,
    params?: QueryParams,
    options?: QueryOptions,
  ): Promise<Row[]>
  /** Like `query`, but each row is a line of JSON, in which 64-bit integers are exact. */
  lines(sql: string, params?: QueryParams, options?: QueryOptions): Promise<string[]>
  /** Runs a statement with a FORMAT of its own; resolves to the whole result. */
  bytes(
    sql: string,
    params?: QueryParams,
    options?: QueryOptions,
  ): Promise<{ bytes: Buffer; rows: number }>
  /** Runs an INSERT … SELECT; resolves to the number of rows written. */
  insertSelect(sql: string, params?: QueryParams): Promise<number>
  /** Runs a statement that returns nothing. */
  command(sql: string, params?: QueryParams): Promise<void>
  /** Resolves when the server responds within two seconds and accepts the credentials. */
  ping(): Promise<void>
  /** Closes the sockets; requests in flight fail. May be called repeatedly. */
  close(): Promise<void>
}

export type QueryParams = Record<string, unknown>

export interface QueryOptions {
  signal?: AbortSignal | undefined
}

const pingTimeoutMs = 2_000
const killTimeoutMs = 2_000

export const createClickHouse = (options: ClickHouseOptions): ClickHouse => {
  const { requestTimeoutMs = 30_000, cluster, insertQuorum } = options
  const { execute, count, close } = openEndpoints(options, requestTimeoutMs)
  const insertsWith: ClickHouseSettings = {
    ...insertSettings,
    ...(insertQuorum !== undefined && quorumSettings(insertQuorum, requestTimeoutMs)),
  }

  const lines: ClickHouse['lines'] = async (sql, params, { signal } = {}) => {
    const { bytes } = await execute({ query: sql, settings: querySettings, params, signal })
    return bytes
      .toString()
      .split('\n')
      .filter((line) => line !== '')
  }

  /** The statements of tables whose columns have been read since ClickHouse refused an insert. */
  const insertStatements = new Map<RawTable, string>()

  async function statementFor(table: RawTable, signal?: AbortSignal): Promise<string> {
    const known = insertStatements.get(table)
    if (known !== undefined) return known
    // With several servers, the insert may reach one whose table does not have a field of `device`
    // yet that the described one has. It would leave out the field without an error.
    const described =
      count > 1 ? [] : await lines(`DESCRIBE TABLE ${rawTables[table].name}`, undefined, { signal })
    const columns = described.map((line) => JSON.parse(line) as DescribedColumn)
    const statement = columns.length === 0 ? plainInsert(table) : insertStatement(table, columns)
    insertStatements.set(table, statement)
    return statement
  }

  return {
    cluster,
    insertRows: async ({ table, coding = 'gzip', members, rows, signal }) => {
      try {
        const { writtenRows } = await execute({
          query: await statementFor(table, signal),
          settings: insertsWith,
          body: Buffer.concat(members),
          headers: { 'Content-Encoding': coding },
          queryId: randomUUID(),
          signal,
        })
        if (writtenRows === rows) return
        const message = `ClickHouse wrote ${writtenRows} of ${rows} rows`
        throw new ClickHouseError(message, { kind: 'split' })
      } catch (error) {
        // Only a response can mean that the columns have changed.
        if (!(error instanceof ClickHouseError) || error.code !== undefined) {
          insertStatements.delete(table)
        }
        throw error
      }
    },
    query: async <Row>(sql: string, params?: QueryParams, how?: QueryOptions) => {
      return (await lines(sql, params, how)).map((line) => JSON.parse(line) as Row)
    },
    lines,
    bytes: async (sql, params, { signal } = {}) => {
      const reply = await execute({ query: sql, settings: querySettings, params, signal })
      return { bytes: reply.bytes, rows: reply.resultRows }
    },
    insertSelect: async (sql, params) => {
      const { writtenRows } = await execute({ query: sql, settings: insertSelectSettings, params })
      return writtenRows
    },
    command: async (sql, params) => {
      await execute({ query: sql, settings: statementSettings, params })
    },
    ping: async () => {
      const signal = AbortSignal.timeout(pingTimeoutMs)
      await execute({ query: 'SELECT 1', settings: querySettings, signal })
    },
    close,
  }
}

function openEndpoints(options: ClickHouseOptions, requestTimeoutMs: number) {
  const { url, spread = false, connectionsMax = 10, logQueries = true, cluster } = options
  return createEndpoints({
    urls: url,
    spread,
    requestTimeoutMs,
    config: {
      // With basic authentication, URL parameters could name another user to the one of `npm
      // start`.
      set_basic_auth_header: false,
      // Only a backstop, which does not cover a stalled response: see the timeout in execute.ts.
      request_timeout: requestTimeoutMs + 1_000,
      max_open_connections: connectionsMax,
      // The client must close an idle socket before the server does, after 3 s at the earliest.
      keep_alive: { idle_socket_ttl: 2_500, eagerly_destroy_stale_sockets: true },
      log: { level: ClickHouseLogLevel.OFF },
      clickhouse_settings: {
        ...(!logQueries && { log_queries: 0 }),
        ...(cluster !== undefined && clusterSettings(requestTimeoutMs)),
      },
    },
    onSilence: kill,
  })
}

/**
 * Cancels an insert whose connection was closed. Otherwise it would go on using memory that the
 * retry needs. If this fails, nothing is lost: the outcome is unknown anyway.
 */
async function kill({ queryId }: Statement, executeThere: Execute): Promise<void> {
  if (queryId === undefined) return
  const signal = AbortSignal.timeout(killTimeoutMs)
  const query = 'KILL QUERY WHERE query_id = {queryId:String} ASYNC'
  await executeThere({ query, settings: statementSettings, params: { queryId }, signal }).catch(
    () => {},
  )
}
