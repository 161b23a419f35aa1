import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { uuidV7 } from '../../../packages/schema/test/fixture.ts'
import { icon, keysScript, liveScript, stylesheet } from '../../src/page/assets.ts'
import type { PageOptions } from '../../src/page/page.ts'
import * as fixture from './fixture.ts'
import { ago, calmState, emptyReader, lateState, startPage, view } from './fixture.ts'

const { startReaderPage } = await fixture.startRowStore(t)

t.test('every response forbids foreign scripts, frames, caching and referrers', async (t) => {
  const { url } = await startReaderPage(t)
  const policy =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src 'self'"
  for (const [path, more = ''] of [
    ['/'],
    ['/dead-letters'],
    ['/pictures/none'],
    ['/feedback/nothing'],
    ['/search?q=1'],
    // Only the live view may request more, and only from the page itself.
    ['/live', "; connect-src 'self'"],
  ] as const) {
    const headers = Object.fromEntries((await fetch(url + path)).headers)
    t.equal(headers['content-security-policy'], policy + more, path)
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  }
})

t.test('another site may lead to the page, but not make requests to it', async (t) => {
  const { port } = await startReaderPage(t)
  for (const [site, mode, status] of [
    ['cross-site', 'no-cors', 403],
    ['same-site', 'cors', 403],
    ['cross-site', 'navigate', 200],
    ['same-origin', 'cors', 200],
  ] as const) {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode }
    t.equal(await fixture.statusOf(port, headers, '/dead-letters'), status, `${site} ${mode}`)
  }
})

t.test('what no record can have is not found, without asking ClickHouse', async (t) => {
  const { url, lines } = await startReaderPage(t)
  const beyond = 'ffffffff-ffff-7fff-8fff-ffffffffffff'
  for (const path of [`/events/${beyond}`, `/feedback/${beyond}`]) {
    t.match(await view(url, path), { status: 404 }, path)
  }
  t.match(await view(url, `/search?q=${beyond}`), { status: 200, text: 'No record' })
  t.match(await view(url, '/attachments/%0d%0aSet-Cookie:a=b'), { status: 404 })
  t.same(lines, [])
})

t.test('the status shows queue, problems and delay, also without Redis', async (t) => {
  const { url } = await startReaderPage(t)
  const response = await fetch(`${url}/status`, { headers: { accept: 'text/html' } })
  t.equal(response.status, 200)
  t.equal(response.headers.get('vary'), 'accept')
  const text = await response.text()
  for (const part of [
    /"Rows">640<[^]*"Rows">–</,
    'Redis does not respond',
    // Soon after midnight, six minutes ago was yesterday. The time is then shown with its date.
    /complete up to (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d<\/span>\s*UTC ·\s*<b>6 min behind<\/b>/,
    'records wait to be stored',
    'href="/help/operations/problems#backlog"',
  ])
    t.match(text, part)

  // Everybody who does not ask for HTML gets that of the admin server.
  for (const accept of ['*/*', 'application/json']) {
    const own = await fetch(`${url}/status`, { headers: { accept } })
    t.equal(await own.text(), '/status', accept)
  }
})

t.test('the status is shown although ClickHouse does not respond', async (t) => {
  for (const query of [
    () => Promise.reject(new ClickHouseError('gone', { kind: 'retry' })),
    () => new Promise<never>(() => {}),
  ]) {
    const { url } = await startPage(t, { reader: { ...emptyReader, query }, state: lateState })
    const { status, text } = await view(url, '/status')
    t.equal(status, 200)
    t.match(text, 'ClickHouse does not respond')
    t.match(text, '6 min behind')
  }
})

t.test('the list of feedback and the status say why a console makes no thumbnails', async (t) => {
  const without = { ...calmState, noThumbnails: () => 'sharp cannot be loaded' }
  for (const path of ['/feedback', '/status']) {
    const documentOf = async (state: PageOptions['state']) =>
      fixture.textOf((await view((await startPage(t, { state })).url, path)).text)
    t.match(
      await documentOf(without),
      'This console makes no thumbnails: sharp cannot be loaded. Pictures of up to 4 MiB are shown themselves.',
    )
    t.notMatch(await documentOf(calmState), 'thumbnails')
  }
})

t.test('the status says how many gateways and workers report, and which stopped', async (t) => {
  const statusOf = async (processes: PageOptions['state']['processes']) => {
    const { url } = await startPage(t, { state: { ...lateState, processes } })
    return (await view(url, '/status')).text
  }
  const stoppedAtMs = Date.UTC(2026, 10, 23, 12, 3, 11)
  const text = await statusOf(async () => ({
    gateway: { reporting: 2, stopped: 1, stoppedAtMs, urls: [] },
    worker: { reporting: 0, stopped: 0, stoppedAtMs: undefined, urls: [] },
  }))
  t.match(text, '2 gateways reporting, 1 stopped at 2026-11-23 12:03:11')
  t.match(text, '0 workers reporting')
  t.notMatch(await statusOf(async () => undefined), 'reporting')
})

t.test('before the first watermark the header says that it starts', async (t) => {
  const { url } = await startPage(t, { state: { ...calmState, visibleUntilMs: () => undefined } })
  const calm = /class="fresh badge" href="\/status" data-variant="success"[^]*?<span>starting</
  t.match((await view(url, '/live')).text, calm)
})

t.test('while ClickHouse is away the header says that records are accepted', async (t) => {
  const problem = {
    code: 'insert_retry',
    state: 'down' as const,
    title: 'ClickHouse is unavailable or busy',
    detail: 'no response',
    help: 'docs/operations/problems.md#insert_retry',
    since: new Date().toISOString(),
  }
  const { url } = await startPage(t, { state: { ...calmState, problems: () => [problem] } })
  t.match((await view(url, '/events')).text, /data-variant="warning"[^]*?accepting, not storing/)
  const query = () => new Promise<never>(() => {})
  const away = await startPage(t, {
    state: { ...calmState, problems: () => [problem] },
    reader: { ...emptyReader, query },
  })
  for (const path of ['/', '/live', '/events', '/feedback', '/search?q=x']) {
    const response = await fetch(away.url + path)
    t.equal(response.status, 503, path)
    t.match(await response.text(), 'Accepting, not storing: ClickHouse does not respond')
  }
  // A page that does not know of the outage waits longer for the same query.
  const queries = new EventEmitter()
  const emitting = (sql: string) => {
    if (sql.includes('intake.outcomes')) queries.emit('outcomes')
    return query()
  }
  const unaware = await startPage(t, { reader: { ...emptyReader, query: emitting } })
  const asked = once(queries, 'outcomes')
  const aborted = new AbortController()
  const statusOf = async (page: { url: string }) => {
    const headers = { accept: 'text/html' }
    const response = await fetch(`${page.url}/status`, { headers, signal: aborted.signal })
    t.match(await response.text(), 'Accepting, not storing: ClickHouse does not respond')
    return page
  }
  const slower = statusOf(unaware).catch(() => unaware)
  await asked
  t.equal(await Promise.race([slower, statusOf(away)]), away, 'the status does not wait longer')
  aborted.abort()
  await slower
})

t.test('a new installation shows a request to copy', async (t) => {
  const { url } = await startPage(t)
  t.match(await view(url, '/'), {
    status: 200,
    text: /Nothing has arrived yet[^]*curl https:\/\/in\.example\.com\/api\/log/,
  })
})

t.test('files have the hash of their content, are small, and may be kept', async (t) => {
  const { url } = await startPage(t)
  for (const [{ path }, bytesMax] of [
    [stylesheet, 31_000],
    [keysScript, 2_000],
    [liveScript, 3_050],
    [icon, 300],
  ] as const) {
    const response = await fetch(url + path, { headers: { 'accept-encoding': 'gzip' } })
    t.equal(response.status, 200, path)
    t.match(response.headers.get('cache-control'), 'immutable')
    const body = await response.text()
    t.ok(body.length <= bytesMax, `${path}: ${body.length} bytes`)
    t.notMatch(body, /url\(/)
  }
})

t.test('404 and 400 are pages too', async (t) => {
  const { url, lines } = await startReaderPage(t)
  t.match(await view(url, `/feedback/${uuidV7(ago(7))}`), {
    status: 404,
    text: 'There is no such record',
  })
  t.match(await view(url, '/feedback/1'), { status: 400, text: 'must be a UUID' })
  t.match(await view(url, '/feedback?from=x'), { status: 400, text: 'from must be a time' })
  for (const path of ['/nope', '/feedback/a/b/c', '/metrics/x']) {
    const { status, text } = await view(url, path)
    t.equal(status, 404, path)
    t.match(text, /<a href="\/" ?>Overview<\/a>[^]*There is no such page\./)
  }
  t.equal((await fetch(`${url}/`, { method: 'POST' })).status, 404, 'nothing can be written')
  t.same(lines, [], 'these are no faults')
})

t.test('503, with a page in the log, when ClickHouse fails or refuses', async (t) => {
  for (const [failure, says] of [
    [{ kind: 'retry' }, 'did not respond in time'],
    [{ kind: 'operator', code: 497 }, 'PAGE_CLICKHOUSE_URL'],
  ] as const) {
    const query = () => Promise.reject(new ClickHouseError('secret', failure))
    const { url, lines } = await startPage(t, { reader: { ...emptyReader, query } })
    const { status, text } = await view(url, '/')
    t.equal(status, 503)
    t.match(text, says)
    t.notMatch(text, 'secret')
    t.match(lines.join(''), 'docs/operations/page-fails.md')
  }
})

t.test('an overview that lacks counts is read again for the next reader', async (t) => {
  const failure = new ClickHouseError('too slow', { kind: 'retry', code: 159 })
  let isSlow = true
  const query = (sql: string) =>
    isSlow && sql.includes('AS events FROM intake.logs')
      ? Promise.reject(failure)
      : Promise.resolve([])
  const { url } = await startPage(t, { reader: { ...emptyReader, query } })
  for (const period of ['24h', '30d']) {
    isSlow = true
    const slow = await view(url, `/?period=${period}`)
    t.match(slow.text, /Some parts could not be counted[^]*<h2>Events<\/h2>\s*<b>–<\/b>/)
    isSlow = false
    const { status, text } = await view(url, `/?period=${period}`)
    t.equal(status, 200)
    t.notMatch(text, 'could not be counted', period)
  }
})

for (const path of ['/', '/?period=1h', '/applications/com.example.app']) {
  t.test(`200 for ${path}, whichever query gets no response in time`, async (t) => {
    const asked: string[] = []
    let slow: number | undefined
    const failure = new ClickHouseError('no response', { kind: 'retry' })
    const query = (sql: string) =>
      asked.push(sql) - 1 === slow ? Promise.reject(failure) : Promise.resolve([])
    const askWith = async (index: number | undefined) => {
      // A page of its own, because a page caches what it has read.
      const { url } = await startPage(t, { reader: { ...emptyReader, query } })
      asked.length = 0
      slow = index
      return view(url, path)
    }
    t.match(await askWith(undefined), { status: 200 })
    const queries = asked.length
    t.ok(queries > 10, `${queries} queries`)
    for (let index = 0; index < queries; index += 1) {
      const { status, text } = await askWith(index)
      t.equal(status, 200, String(asked[index]))
      t.match(text, '</html>')
    }
  })
}

t.test('503 at once when too many views are being made', async (t) => {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const query = async () => (await held, [])
  const { url } = await startPage(t, { reader: { ...emptyReader, query } })
  let refused = 0
  const requests = Array.from({ length: 40 }, async () => {
    const { status } = await fetch(`${url}/dead-letters`)
    // The server has places for 36 requests: four run and 32 wait. Four more must be refused.
    if (status === 503 && ++refused === 4) release()
    return status
  })
  const statuses = await Promise.all(requests)
  t.equal(statuses.filter((status) => status === 200).length, 36)
})

t.test('the status does not wait for views that wait for ClickHouse', async (t) => {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let reading = 0
  const query = async (sql: string) => {
    if (!sql.includes('dead_letters')) return []
    reading++
    return (await held, [])
  }
  const { url } = await startPage(t, { reader: { ...emptyReader, query } })
  let refused = () => {}
  const isFull = new Promise<void>((resolve) => (refused = resolve))
  const others = Array.from({ length: 40 }, async () => {
    const { status } = await fetch(`${url}/dead-letters`)
    if (status === 503) refused()
  })
  await isFull
  t.ok(reading > 0)
  t.equal((await view(url, '/status')).status, 200)
  release()
  await Promise.all(others)
})

t.test('the status shows the first problem, which causes the others, and a pause', async (t) => {
  const problem = (code: string, state: 'degraded' | 'down', minutes: number, detail = 'x') => ({
    code,
    state,
    title: `title of ${code}`,
    detail,
    help: 'docs/operations/x.md',
    since: new Date(Date.now() - minutes * 60_000).toISOString(),
  })
  const statusOf = async (problems: ReturnType<typeof problem>[]) => {
    const { url } = await startPage(t, { state: { ...lateState, problems: () => problems } })
    return (await view(url, '/status')).text
  }
  const old = problem('page_fails', 'degraded', 60)
  const paused = problem('queue_paused', 'degraded', 5, 'logs')
  const text = await statusOf([paused, old])
  t.match(text, /class="alert"[^]*?queue_paused: title[^]*page_fails/)
  t.match(text, /"State"><b>paused<\/b>[^]*"State">not paused</)
  t.match(text, /Queue<\/h2>\s*<b>640 rows<\/b>\s*<p>paused, not getting shorter/)
  const down = problem('redis_connection', 'down', 30)
  t.match(await statusOf([down, paused, old]), /class="alert"[^]*?redis_connection: title/)
  t.notMatch(await statusOf([old]), '>paused<')
})
