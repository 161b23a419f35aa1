import type { Test } from 'tap'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { createLogger, createMetrics, startAdminServer } from '@intake/runtime'
import { page, type PageOptions } from '../src/index.ts'

export const noBacklog = () => ({
  waiting: 0,
  active: 0,
  delayed: 0,
  rows: 0,
  oldestAgeSeconds: 0,
  secondsToDrain: 0,
})

/** A row store without rows. */
export const emptyReader: PageOptions['reader'] = { query: async () => [] }

/** The page on a free port, until the test ends. */
export async function startPage(
  t: Test,
  options: Partial<PageOptions> & { host?: string } = {},
): Promise<{ url: string; port: number; lines: string[] }> {
  const { host = '127.0.0.1', ...given } = options
  const lines: string[] = []
  const admin = await startAdminServer({
    host,
    port: 0,
    checks: {},
    metrics: createMetrics(),
    page: (app) =>
      page(app, {
        password: undefined,
        reader: emptyReader,
        store: undefined,
        backlog: noBacklog,
        log: createLogger({
          name: 'worker',
          level: 'info',
          destination: { write: (line) => void lines.push(line) },
        }),
        ...given,
      }),
  })
  t.teardown(() => admin.close())
  return { url: `http://127.0.0.1:${admin.port}`, port: admin.port, lines }
}

/** A connection as the user who may only read the views. */
export function connectAnalyst(t: Test, url: string): ClickHouse {
  const clickhouse = createClickHouse({ url, requestTimeoutMs: 60_000 })
  t.teardown(() => clickhouse.close())
  return clickhouse
}
