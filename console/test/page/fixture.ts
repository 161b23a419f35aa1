import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import type { QueryParams } from '@intake/clickhouse'
import { countNames, refreshCounts } from '@intake/records'
import { logTo } from '@intake/test-kit/log-to'
import { createAddressOf, parseTrustProxy } from '../../../packages/config/src/index.ts'
import { startAdmin } from '../../../packages/http-edge/test/admin/start-admin.ts'
import { insertRows, startServer } from '../../../packages/schema/test/fixture.ts'
import { page, type PageOptions } from '../../src/page/page.ts'

/** A worker without problems, whose queues are empty. */
export const calmState: PageOptions['state'] = {
  backlog: () => ({
    waiting: 0,
    active: 0,
    delayed: 0,
    rows: 0,
    oldestAgeSeconds: 0,
    secondsToDrain: 0,
  }),
  problems: () => [],
  visibleUntilMs: () => Date.now() - 20_000,
  deadLetters: () => 0,
  noThumbnails: () => undefined,
  keyNames: async () => new Map([['key-1', 'shop-android']]),
  scopes: async () => [],
  keyBudgets: async () => [],
  processes: async () => ({
    gateway: { reporting: 2, stopped: 0, stoppedAtMs: undefined, urls: ['https://in.example.com'] },
    worker: { reporting: 1, stopped: 0, stoppedAtMs: undefined, urls: [] },
  }),
}

/** A reader whose queries return no rows. */
export const emptyReader: PageOptions['reader'] = { query: async () => [], lines: async () => [] }

/** A reader that seems to have too many events to count them for each view. */
export const asLarge = (reader: PageOptions['reader']): PageOptions['reader'] => ({
  query: async <Row>(sql: string, params?: QueryParams) =>
    sql.includes('SELECT 1 FROM intake.logs LIMIT')
      ? ([{ records: 100_000 }] as Row[])
      : reader.query<Row>(sql, params),
  lines: (sql, params) => reader.lines(sql, params),
})

/** Starts the page on a free port; it stops when the test ends. */
export async function startPage(
  t: Test,
  options: Partial<PageOptions> & { host?: string; trustProxy?: string } = {},
): Promise<{ url: string; port: number; lines: string[] }> {
  const { host = '127.0.0.1', trustProxy, ...given } = options
  const lines: string[] = []
  const port = await startAdmin(t, {
    host,
    page: (app) =>
      page(app, {
        password: undefined,
        addressOf: createAddressOf(parseTrustProxy(trustProxy)),
        reader: emptyReader,
        store: undefined,
        state: calmState,
        onFailed: () => {},
        log: logTo((line) => void lines.push(line)),
        ...given,
      }),
  })
  return { url: `http://127.0.0.1:${port}`, port, lines }
}

/**
 * Starts ClickHouse with the tables. The pages that `startReaderPage` starts connect as a user who
 * may only read the views.
 */
export async function startRowStore(t: Test) {
  const { server, connect } = await startServer(t)
  const owner = connect(t)
  const connectReader = (t: Test) => connect(t, { url: server.readerUrl, requestTimeoutMs: 60_000 })
  return {
    owner,
    connectReader,
    insert: (table: 'feedback' | 'logs', rows: object[]) => insertRows(owner, table, rows),
    /** Counts all that was inserted, as a console does every minute. */
    async refresh() {
      for (const name of countNames) await refreshCounts({ reader: owner, store: owner, name })
    },
    startReaderPage: (t: Test, options: Partial<PageOptions> = {}) =>
      startPage(t, { reader: connectReader(t), state: lateState, ...options }),
  }
}

/** A worker that is six minutes behind, with a problem; it cannot read the queue of feedback. */
export const lateState: PageOptions['state'] = {
  ...calmState,
  backlog: (kind) =>
    kind === 'feedback'
      ? undefined
      : {
          waiting: 7,
          active: 2,
          delayed: 1,
          rows: 640,
          oldestAgeSeconds: 31.2,
          secondsToDrain: Infinity,
        },
  visibleUntilMs: (kind) => (kind === 'logs' ? Date.now() - 375_000 : Date.now() - 30_000),
  deadLetters: () => 3,
  problems: () => [
    {
      code: 'backlog',
      title: 'records wait to be stored',
      state: 'degraded',
      since: new Date(Date.now() - 370_000).toISOString(),
      detail: '412300 rows, the oldest is 375 s old',
      help: 'docs/operations/problems.md#backlog',
    },
  ],
}

const now = Date.now()

/** The time that is `seconds` before the start of the tests, in ISO 8601. */
export const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString()

/**
 * Opens a view. On a busy machine the page may give up and respond with 503, so there are up to
 * three attempts.
 */
export async function view(url: string, path: string): Promise<{ status: number; text: string }> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url + path, { headers: { accept: 'text/html' } })
    const { status } = response
    const text = await response.text()
    if (status !== 503 || attempt === 3) return { status, text }
  }
}

/** The text of a document, with `between` for each tag. */
export const textOf = (document: string, between = ''): string =>
  document.replaceAll(/<[^>]*>/g, between).replaceAll(/\s+/g, ' ')

/** What the only group of `pattern` is in each of its matches. */
export const allIn = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, found = '']) => found)

export const basic = (password: string, user = 'anyone') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

/** The status of a request with exactly these headers; `fetch` sets some of them itself. */
export async function statusOf(port: number, headers: Record<string, string>, path: string) {
  const sent = request({ host: '127.0.0.1', port, path, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** The paths that the document at `path` links to. */
export const linksIn = (text: string, path: string): string[] =>
  allIn(text, /href="([/?][^"]*)"/g).map((link) => {
    const { pathname, search } = new URL(link.replaceAll('&#38;', '&'), `http://page${path}`)
    return pathname + search
  })
