import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ClickHouseError, errorForCode, type FailureKind } from './errors.ts'

export interface Statement {
  query: string
  /** The id of the query in ClickHouse, by which it can be killed. */
  queryId?: string
  settings: ClickHouseSettings
  params?: Record<string, unknown> | undefined
  body?: Buffer
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Default: the timeout of the executor. */
  timeoutMs?: number
}

export interface Reply {
  bytes: Buffer
  writtenRows: number
  resultRows: number
}

/**
 * Creates a function that resolves only to a complete response with status 200 and without an
 * exception code, within the timeout; otherwise it rejects with a `ClickHouseError`. An abandoned
 * request destroys its socket, so that a silent server does not occupy it.
 */
export const createExecutor = (options: {
  client: ClickHouseClient
  requestTimeoutMs: number
  headers: () => Record<string, string>
}) => {
  const { client, headers } = options

  const exchange = async (statement: Statement, signal: AbortSignal): Promise<Reply> => {
    const { stream, response_headers, http_status_code, summary } = await client.exec({
      query: statement.query,
      ...(statement.queryId && { query_id: statement.queryId }),
      clickhouse_settings: statement.settings,
      // Otherwise the client parses the code from the text of the response, which quotes rows.
      ignore_error_response: true,
      abort_signal: signal,
      ...(statement.params && { query_params: statement.params }),
      // The whole body is one chunk, because each chunk would be a separate write.
      ...(statement.body && { values: Readable.from([statement.body]) }),
      http_headers: { ...headers(), ...statement.headers },
    })
    // The client watches the signal only until the headers have arrived.
    const cut = () => stream.destroy(new Error('Cut off'))
    signal.addEventListener('abort', cut)
    if (signal.aborted) cut()
    const bytes = await buffer(stream)

    const code = Number(response_headers['x-clickhouse-exception-code'] ?? 0)
    if (code !== 0) throw errorForCode(code, bytes.toString())
    if (http_status_code !== 200) {
      const message = `The response has status ${http_status_code} and no ClickHouse code`
      // A proxy in front of ClickHouse may accept only smaller requests.
      const isTooLarge = http_status_code === 413
      const kind = isTooLarge ? 'split' : 'retry'
      throw new ClickHouseError(message, { kind, isTooLarge, serverText: bytes.toString() })
    }
    return {
      bytes,
      writtenRows: Number(summary?.written_rows ?? 0),
      resultRows: Number(summary?.result_rows ?? 0),
    }
  }

  return async (statement: Statement): Promise<Reply> => {
    const { signal, timeoutMs = options.requestTimeoutMs } = statement
    const cancel = new AbortController()
    let ending = 'The connection to ClickHouse failed'
    let kind: FailureKind = 'retry'
    const end = (why: string) => {
      ending = why
      cancel.abort()
    }
    const isLate = () => (signal?.reason as Error | undefined)?.name === 'TimeoutError'
    const giveUp = () =>
      end(isLate() ? 'ClickHouse does not respond' : 'The request to ClickHouse was given up')
    const late = () => {
      kind = 'split'
      end(`No response from ClickHouse within ${Math.round(timeoutMs)} ms`)
    }
    const timer = setTimeout(late, timeoutMs)
    signal?.addEventListener('abort', giveUp)
    if (signal?.aborted) giveUp()
    try {
      // The client does not notice a signal that is already aborted.
      cancel.signal.throwIfAborted()
      return await exchange(statement, cancel.signal)
    } catch (cause) {
      if (cause instanceof ClickHouseError) throw cause
      // After an abort the cause is left out, because it says only that there was an abort.
      throw new ClickHouseError(ending, { kind, ...(!cancel.signal.aborted && { cause }) })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
  }
}
