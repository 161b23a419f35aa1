import type { Test } from 'tap'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { createLogger } from '@intake/runtime'
import { startAdmin } from '../../health/test/start-admin.ts'
import { member, startServer } from '../../schema/test/fixture.ts'
import { page, type PageOptions } from '../src/index.ts'

const noBacklog = () => ({
  waiting: 0,
  active: 0,
  delayed: 0,
  rows: 0,
  oldestAgeSeconds: 0,
  secondsToDrain: 0,
})

/** A reader whose queries return no rows. */
export const emptyReader: PageOptions['reader'] = { query: async () => [], lines: async () => [] }

/** Starts the page on a free port; it stops when the test ends. */
export async function startPage(
  t: Test,
  options: Partial<PageOptions> & { host?: string; trustProxy?: string } = {},
): Promise<{ url: string; port: number; lines: string[] }> {
  const { host = '127.0.0.1', trustProxy, ...given } = options
  const lines: string[] = []
  const port = await startAdmin(t, {
    host,
    trustProxy,
    page: (app) =>
      page(app, {
        password: undefined,
        reader: emptyReader,
        store: undefined,
        backlog: noBacklog,
        onFailed: () => {},
        log: createLogger({
          name: 'worker',
          level: 'info',
          destination: { write: (line) => void lines.push(line) },
        }),
        ...given,
      }),
  })
  return { url: `http://127.0.0.1:${port}`, port, lines }
}

/** Connects as the user who may only read the views. */
function connectReader(t: Test, url: string): ClickHouse {
  const clickhouse = createClickHouse({ url, requestTimeoutMs: 60_000 })
  t.teardown(() => clickhouse.close())
  return clickhouse
}

/** Starts ClickHouse with the tables, and pages for a user who may only read the views. */
export async function startRowStore(t: Test) {
  const { server, connect } = await startServer(t)
  const owner = connect(t)
  return {
    owner,
    insert: (table: 'feedback' | 'logs', rows: object[]) =>
      owner.insertGzip({ table, members: [member(rows)], rows: rows.length }),
    startReaderPage: (t: Test) =>
      startPage(t, { reader: connectReader(t, server.readerUrl), backlog }),
  }
}

const backlog: PageOptions['backlog'] = (kind) =>
  kind === 'feedback'
    ? undefined
    : {
        waiting: 7,
        active: 2,
        delayed: 1,
        rows: 640,
        oldestAgeSeconds: 31.2,
        secondsToDrain: Infinity,
      }

const now = Date.now()

/** A time before the start of the tests, in ISO 8601. */
export const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString()

export async function view(url: string, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path)
  return { status: response.status, text: await response.text() }
}

/** The paths to which a document has links. */
export const linksIn = (text: string): string[] =>
  Array.from(text.matchAll(/href="(\/[^"]*)"/g), ([, path = '']) => path.replaceAll('&#38;', '&'))
