import { randomUUID } from 'node:crypto'
import type { BenchQuery } from './cookbook.ts'

export interface QueryReport {
  queryId: string
  milliseconds: number
  rows: number
  bytes: number
}

const timeoutMs = 130_000

/**
 * Executes a query as the analyst, and discards the rows. Returns what ClickHouse reports about the
 * query, including the time that ClickHouse measured.
 *
 * @throws {Error} if ClickHouse refuses the query
 */
export async function ask(
  { sql }: BenchQuery,
  options: { url: string; params: Record<string, string> },
): Promise<QueryReport> {
  const queryId = randomUUID()
  const { username, password, origin } = new URL(options.url)
  const search = new URLSearchParams({
    wait_end_of_query: '1',
    query_id: queryId,
    // An analyst sends a query only once, so a repeated query must not use the granules that the
    // previous execution found.
    use_query_condition_cache: '0',
    max_execution_time: '120',
    ...Object.fromEntries(
      Object.entries(options.params).map(([name, value]) => [`param_${name}`, value]),
    ),
  })
  const response = await fetch(`${origin}/?${search.toString()}`, {
    method: 'POST',
    headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
    body: sql,
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`ClickHouse refused a query of the bench: ${text}\n${sql}`)
  const summary = JSON.parse(response.headers.get('x-clickhouse-summary') ?? '{}') as Summary
  return {
    queryId,
    milliseconds: Number(summary.elapsed_ns) / 1e6,
    rows: Number(summary.read_rows),
    bytes: Number(summary.read_bytes),
  }
}

interface Summary {
  elapsed_ns: string
  read_rows: string
  read_bytes: string
}
