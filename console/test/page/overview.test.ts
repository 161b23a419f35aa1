import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { atTime, feedbackRow, logRow } from '../../../packages/schema/test/fixture.ts'
import type { PageOptions } from '../../src/page/page.ts'
import { ago, allIn, calmState, startRowStore, textOf, view } from './fixture.ts'

const { owner, insert, refresh, startReaderPage } = await startRowStore(t)
const hour = 3_600

/** Events of an application, one for each time. */
const events = (application: string, event: string, seconds: number[], fields: object = {}) =>
  seconds.map((second, n) =>
    logRow({
      ...atTime(ago(second)),
      bundle_identifier: application,
      device_uuid: `df5d5c64-dba0-4337-96e2-72a3049d0d0${n % 3}`,
      event,
      device: { version_name: '3.5.0', version_code: 350 },
      ...fields,
    }),
  )
const every = (from: number, to: number, step: number) =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, n) => (from + n * step) * hour)
const page = { state: calmState }

t.test('the first event is counted at once, and the checklist knows it', async (t) => {
  await insert('logs', events('com.example.shop', 'hello', [5]))
  const { url } = await startReaderPage(t, page)
  const { text } = await view(url, '/')
  t.match(text, /<h2>Events<\/h2>\s*<b>1<\/b>/)
  t.match(
    text,
    /<h2>Active devices<\/h2>\s*<b>1<\/b>[^]*?<svg class="spark s-events"[^>]*>\s*<rect/,
  )
  t.match(textOf(text), /The first hour .*done: Send an event/)
  const lines = allIn(text, /<pre>([^]*?)<\/pre>/g).map((line) =>
    line.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).trim(),
  )
  t.match(lines[0], '$(./intake keys create')
  t.match(lines[2], /^curl https:\/\/in.example.com\/api\/log .* -d '\{\n {2}"bundle/)
  t.match(lines[3], /^curl https:\/\/in.example.com\/api\/feedback .* -F 'payload=\{\n {2}"bundle/)
  for (const line of lines.slice(2)) t.ok(JSON.parse(/\{[^]*\}/.exec(line)?.[0] ?? ''), line)
  t.notMatch(text, 'not counted')
  const feedback = await view(url, '/feedback')
  t.match(feedback.text, 'None yet.')
  for (const search of ['text=slow', 'period=24h'])
    t.match((await view(url, `/feedback?${search}`)).text, 'Nothing matches.')
})

t.test('the overview says what changed, with the remedy, and links it', async (t) => {
  const app = 'com.example.shop'
  const old = { device: { version_name: '3.4.0', version_code: 340 } }
  await insert('logs', [
    ...events(app, 'purchase', every(30, 170, 1), { ...old, params: { amount: 12.5 } }),
    ...events(app, 'purchase', every(1, 20, 1), { params: { amount: '12.50' } }),
    ...events(app, 'login', every(1, 20, 1), { params: { email: 'ann@example.com' } }),
    ...events(app, 'newsletter_open', every(40, 170, 1), old),
    ...events(app, 'app_crash', every(1, 5, 1)),
    ...events(app, 'sync_error', [...every(30, 31, 1)], old),
    ...events(app, 'sync_error', every(1, 7, 1)),
    ...events(app, 'pay_error', every(30, 90, 1), old),
    ...events(app, 'pay_error', every(1, 7, 1)),
  ])
  await refresh()
  const budget = { name: 'shop-android', limit: 'events' as const, share: 0.91 }
  const state = { ...calmState, keyBudgets: async () => [budget] }
  const { url } = await startReaderPage(t, { state })
  const { text } = await view(url, '/?period=24h')
  const [list = ''] = /Look at this[^]*?<\/ul>/.exec(text) ?? []
  for (const sentence of [
    'sync_error is more frequent in com.example.shop 3.5.0: 6 events, 1 in older versions and 1 more',
    'newsletter_open stopped in com.example.shop',
    'amount became text in version 3.5.0, it was number',
    'login sends e-mail addresses in params.email',
    './intake rules add remove params.email --bundle com.example.shop',
    'The key shop-android has used 91 % of its day',
  ])
    t.match(textOf(list), sentence)
  t.equal(list.match(/<li>/g)?.length, 5)
  t.match(textOf(list), /^Look at this types and warnings counted at [\d:]+/)
  t.equal(list.match(/<li><a href/g)?.length, 5, 'each has a link')
  t.match(list, 'href="/events?app=com.example.shop&#38;event=sync_error&#38;period=30d"')
  t.match(textOf((await view(url, `/applications/${app}`)).text), 'sync_error is more frequent')
  t.match(list, '<a href="?period=24h&#38;all="><small>and 1 more like this</small></a>')
  const whole = await view(url, '/?period=24h&all=')
  t.match(textOf(whole.text), /sync_error is more frequent.*app_crash is new in.*stopped in/)
  t.notMatch(whole.text, /more like this|are read/)
})

t.test('one application is carried through all views, and rows name it only without', async (t) => {
  await insert('logs', events('com.example.other', 'opened', [7]))
  const own = { bundle_identifier: 'com.example.other' }
  await insert('feedback', [feedbackRow({ ...atTime(ago(9)), ...own })])
  const { url } = await startReaderPage(t, page)
  const all = await view(url, '/events')
  t.match(all.text, /class="app a\d">com\.example\.other</)
  const one = await view(url, '/events?app=com.example.other')
  t.notMatch(one.text, '>hello<')
  t.match(all.text, /<option value="event:opened">1</, 'suggestions have their counts')
  const sorted = textOf((await view(url, '/?sort=Feedback')).text)
  t.match(sorted, /Last event\s*com\.example\.other/, 'the application with most feedback is first')
  for (const path of ['/live', '/feedback', '/events', '/search?q=x'])
    for (const to of ['/live?app=', '/feedback?app=', '/status?app=', '/applications/'])
      t.match(
        (await view(url, `${path}${path.includes('?') ? '&' : '?'}app=com.example.other`)).text,
        `href="${to}com.example.other"`,
        `${path} leads to ${to}`,
      )
  const catalogue = textOf((await view(url, '/applications/com.example.other?tab=catalogue')).text)
  t.match(catalogue, 'Not counted yet.', 'its first event is younger than the catalogue')
  t.notMatch(catalogue, /None\.|no device\.version_code/)
  const overview = await fetch(`${url}/?app=com.example.other`, { redirect: 'manual' })
  t.equal(overview.headers.get('location'), '/applications/com.example.other?period=24h')
})

t.test('the box finds by name, by e-mail and by id, and says what is near', async (t) => {
  const { url } = await startReaderPage(t, page)
  const search = async (q: string) => textOf((await view(url, `/search?q=${q}`)).text)
  t.match(await search('newsletter'), /Events newsletter_open com\.example\.shop 130 events/)
  t.match(await search('amount'), /Params purchase · amount/)
  t.match(await search('example.oth'), /Applications com\.example\.other 1 event in 30 days/)
  t.match(await search('user-1'), /Users user-1/)
  t.match(await search('purchse'), /Nothing has this name or id.* Names like it purchase/)
  t.notMatch(await search('lzzzn'), /Names like it/, 'three of five letters of login differ')
  const locationOf = async (q: string) =>
    (await fetch(`${url}/search?q=${q}`, { redirect: 'manual' })).headers.get('location')
  t.equal(await locationOf('ann@example.com'), '/feedback?text=ann%40example.com')
  const device = 'df5d5c64-dba0-4337-96e2-72a3049d0d00'
  t.equal(await locationOf(device), `/events?device=${device}`)
})

t.test('an error that began today in an older version is new', async (t) => {
  const app = 'com.example.late'
  const old = { device: { version_name: '3.4.0', version_code: 340 } }
  await insert('logs', [
    ...events(app, 'hello', every(40, 60, 1), old),
    ...events(app, 'hello', every(40, 60, 1)),
    ...events(app, 'old_crash', every(1, 12, 1), old),
  ])
  const { url } = await startReaderPage(t, page)
  t.match(
    textOf((await view(url, `/applications/${app}`)).text),
    'old_crash is new in com.example.late 3.4.0: 11 events',
  )
})

t.test('what one application sends pushes out nothing of another', async (t) => {
  const names = Array.from({ length: 25 }, (_, n) => `refund_${n}_error`)
  const params = { refund_email: 'ann@example.com' }
  await insert('logs', [
    ...names.flatMap((name) => events('com.example.loud', name, every(1, 9, 1), { params })),
    ...events('com.example.loud', 'hello', every(30, 31, 1)),
    ...names.flatMap((name) =>
      events('com.example.loud', name.replace('error', 'stop'), every(40, 150, 1)),
    ),
    ...events('com.example.quiet', 'hello', every(30, 31, 1)),
    ...events('com.example.quiet', 'refund_error', every(1, 2, 1), { params }),
    ...events('com.example.quiet', 'refund_done', every(40, 115, 1)),
  ])
  await refresh()
  const { url } = await startReaderPage(t, page)
  t.match(textOf((await view(url, '/?period=24h')).text), 'and 9+ more like this')
  const whole = textOf((await view(url, '/?period=24h&all=')).text)
  t.match(whole, 'Of each kind, at most 10 are read.')
  t.match(whole, 'refund_error is new in com.example.quiet')
  t.match(whole, 'refund_error sends e-mail addresses in params.refund_email, in com.example.quiet')
  t.match(whole, 'refund_done stopped in com.example.quiet')
  const found = async (q: string) => textOf((await view(url, `/search?q=${q}`)).text)
  t.match(await found('refund'), /Events .*refund_error com\.example\.quiet.* Params/)
  t.match(await found('refund'), /Params .*refund_error · refund_email com\.example\.quiet/)
  t.match(await found('refund_donne'), /Names like it .*refund_done com\.example\.quiet/)
})

t.test('findings of a kind that ClickHouse cannot read hide no others', async (t) => {
  const reader: PageOptions['reader'] = {
    query: (sql, params) =>
      sql.includes('intake.drift')
        ? Promise.reject(new ClickHouseError('memory', { kind: 'split', code: 241 }))
        : owner.query(sql, params),
    lines: (sql, params) => owner.lines(sql, params),
  }
  const { url } = await startReaderPage(t, { ...page, reader })
  const { text } = await view(url, '/?period=24h&all=')
  t.match(text, 'Some parts could not be counted')
  t.match(textOf(text), 'refund_error is new in com.example.quiet')
})

t.test('the box finds users whose ids are UUIDs or e-mail addresses', async (t) => {
  const ids = ['0B7E5C1E-2F6D-4C7B-9D55-0A3F6D2E8C11', 'eve@example.com']
  const sent = ids.map((unique_user_id) =>
    events('com.example.users', 'hello', [1], { unique_user_id }),
  )
  await insert('logs', sent.flat())
  const { url } = await startReaderPage(t, page)
  for (const id of ids) {
    const { text } = await view(url, `/search?q=${id}`)
    t.match(textOf(text), new RegExp(`Users ${id} com\\.example\\.users 1 event`))
  }
  const { text } = await view(url, '/search?q=eve@example.com')
  t.match(text, 'href="/feedback?text=eve%40example.com"')

  // One who has sent feedback, but no event.
  const own = { bundle_identifier: 'com.example.users', unique_user_id: 'mallory' }
  await insert('feedback', [feedbackRow({ ...atTime(ago(hour)), ...own })])
  const { text: found } = await view(url, '/search?q=mallory')
  t.match(found, 'href="/feedback?app=com.example.users&#38;period=30d&#38;user=mallory"')
})

t.test('without version codes the newest version is found by its name', async (t) => {
  const app = 'com.example.web'
  const named = (version_name?: string) => ({ device: version_name ? { version_name } : {} })
  await insert('logs', [
    ...events(app, 'hello', every(30, 130, 1), named('1.9.0')),
    ...events(app, 'login_error', every(30, 32, 1), named('1.9.0')),
    ...events(app, 'hello', every(10, 30, 1), named('1.10.0')),
    ...events(app, 'login_error', every(3, 10, 1), named('1.10.0')),
    ...events(app, 'hello', every(2, 4, 1), named('1.9.0')),
    ...events(app, 'hello', every(1, 2, 1), named()),
  ])
  await refresh()
  const { url } = await startReaderPage(t, page)
  const rowsOf = async (path: string) => (await view(url, path)).text.split('<tr>').slice(1)
  const newest = /"Newest version">(?:<bdi>)?1\.10\.0</
  for (const [path, one] of [
    ['/?period=24h', app],
    [`/applications/${app}?tab=catalogue`, '>hello<'],
  ] as const)
    t.ok(
      (await rowsOf(path)).some((row) => row.includes(one) && newest.test(row)),
      path,
    )
  t.match(
    textOf((await view(url, `/applications/${app}`)).text),
    'login_error is more frequent in com.example.web 1.10.0: 7 events, 2 in older versions',
  )
})
