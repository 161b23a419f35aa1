import t from 'tap'
import { atTime, feedbackRow, logRow } from '../../../packages/schema/test/fixture.ts'
import { countReader } from '../../src/page/count-reader.ts'
import { readSummary } from '../../src/page/overview.ts'
import { startsOf, stepsOf } from '../../src/page/period.ts'
import { applicationOf } from '../../src/page/search.ts'
import { applicationPath } from '../../src/page/views/links.ts'
import { countTile } from '../../src/page/views/summary.ts'
import { allIn, asLarge, startRowStore, view } from './fixture.ts'

const { owner, insert, refresh, startReaderPage } = await startRowStore(t)
const application = 'com.example.counts'
const hourMs = 3_600_000

/** Creates events that happened and arrived at the time `atMs`. */
const events = (atMs: number, number: number, fields: object) =>
  Array.from({ length: number }, () =>
    logRow({ ...atTime(atMs), bundle_identifier: application, ...fields }),
  )

// Half an hour ago may be in the current hour or in the hour before it. Both must be counted.
const nowMs = Date.now()
const halfHourAgo = nowMs - hourMs / 2
const device = (version_name?: string) => ({
  device: version_name === undefined ? {} : { version_name, version_code: 7 },
})
await insert('logs', [
  ...events(halfHourAgo, 60, { event: 'seen', ...device('1.0') }),
  ...events(nowMs - 61_000 - 2 * hourMs, 30, { event: 'seen', ...device() }),
  // There are more event names than a list shows. Only the rarest, `ui ANR`, counts as a bad event.
  ...Array.from({ length: 12 }, (_, n) =>
    events(nowMs - 3 * hourMs, 20 - n, { event: `name-${n}`, ...device('2.0') }),
  ).flat(),
  ...events(nowMs - 3 * hourMs, 2, { event: 'ui ANR', ...device('2.0') }),
  ...events(nowMs - 3 * hourMs, 3, { event: 'anrakuji', ...device('2.0') }),
  ...events(nowMs - 40_000, 70, { event: 'burst', bundle_identifier: 'com.example.burst' }),
  // Eight versions have more devices than the newest version.
  ...Array.from({ length: 9 }, (_, n) =>
    events(nowMs - 4 * hourMs, n === 8 ? 1 : 3, {
      event: 'start',
      bundle_identifier: 'com.example.releases',
      ...device(`r${n}`),
    }),
  ).flat(),
])
const release = { bundle_identifier: 'com.example.releases', ...device('r8') }
await insert('feedback', [feedbackRow({ ...atTime(nowMs - 60_000), ...release })])
await refresh()

/** Reads the bars of a view. Returns the link, the number and the note of each bar, by its name. */
const barsIn = (text: string) =>
  new Map(
    Array.from(
      text.matchAll(
        /<a href="([^"]*)"\s*>(?:<bdi>(.*?)<\/bdi>|<i class="mute">(none)<\/i>)<\/a\s*>\s*(?:<span>|<td class="num" data-label="Devices">)([\d,]+)(?:<\/span><span class="mute">([^<]*))?/g,
      ),
      ([, href = '', name, none, count = '', note = '']) =>
        [
          name ?? none ?? '',
          { href: href.replaceAll('&#38;', '&'), count: Number(count.replaceAll(',', '')), note },
        ] as const,
    ),
  )

t.test('one hour is counted from the records, also before the last full hour', async (t) => {
  for (const reader of [owner, asLarge(owner)]) {
    const { url } = await startReaderPage(t, { reader })
    const { text } = await view(url, '/?period=1h')
    const bars = barsIn(text)
    t.equal(bars.get('seen')?.count, 60)
    t.equal(bars.get('burst')?.count, 70)
    const devices = Number(/Active devices<\/h2>\s*<b>([^<]*)/.exec(text)?.[1])
    t.ok(Math.abs(devices - 130) <= 3, `${devices} devices, which are counted approximately`)
    t.match(text, new RegExp(`applications/${application}\\?[^]*?data-label="Events">60<`))
  }
})

t.test('a bar leads to the list that it counts, also for the empty name', async (t) => {
  const { url } = await startReaderPage(t)
  const none = ['none', undefined] as const
  for (const [path, ...more] of [
    ['/?period=24h'],
    [`/applications/${application}?period=24h`, none],
  ] as const) {
    const bars = barsIn((await view(url, path)).text)
    for (const [name, lists] of [['seen', 90] as const, ...more]) {
      const { href = '', count = 0 } = bars.get(name) ?? {}
      const { text } = await view(url, href)
      const [, matching] = /([\d,]+) events? match/.exec(text) ?? []
      // Every record has its own device, so there are as many devices as events.
      t.equal(Number(matching), lists ?? count, `${path} ${name}: ${href}`)
      t.ok(count > 0)
    }
  }
  const { text } = await view(url, '/feedback?period=7d&app=com.example.releases')
  const { href = '' } = barsIn(text).get('r8') ?? {}
  t.match(href, /period=7d/)
})

t.test('percentages are shares of all, not of the bars that are shown', async (t) => {
  const { url } = await startReaderPage(t)
  const { text } = await view(url, '/?period=24h')
  const shares = [...barsIn(text)].filter(([name]) => name.startsWith('name-'))
  t.ok(shares.length > 0 && shares.length < 12)
  const total = 60 + 30 + 174 + 5 + 70 + 25
  t.equal(barsIn(text).get('seen')?.note, `${Math.round((100 * 90) / total)} %`)
})

t.test('bad events are counted although others are more frequent', async (t) => {
  const { url } = await startReaderPage(t)
  const { text } = await view(url, `/applications/${application}?period=24h`)
  t.match(text, /; 2\s+crashes and errors/)
  t.notMatch(text, '>1 h<', 'no period that is shorter than its counts')
})

t.test('feedback per 100 devices is there for a release with few devices', async (t) => {
  const { url } = await startReaderPage(t)
  const { text } = await view(url, '/feedback?app=com.example.releases')
  t.equal(barsIn(text).get('r8')?.note, '100.0')
})

t.test('live counts all matching events of the last minute, and sends them again', async (t) => {
  // A future time of arrival keeps the events within the last minute, even on a slow machine.
  const received_at = new Date(Date.now() + 60_000).toISOString()
  const bundle_identifier = 'com.example.live'
  await insert('logs', events(Date.now(), 70, { event: 'burst', bundle_identifier, received_at }))
  const { url } = await startReaderPage(t)
  for (const path of ['/live?', '/live/rows?since=0&besides=&']) {
    const { text } = await view(url, `${path}app=com.example.live`)
    const { count, href } = barsIn(text).get('burst') ?? {}
    t.equal(count, 70, path)
    t.equal(href, '/live?app=com.example.live&event=burst')
    t.match(text, /id="minutes"[^]*id="beside"/)
  }
  const { text } = await view(url, '/live/rows?since=0&app=com.example.live')
  t.notMatch(text, 'id="beside"')
})

t.test('the columns of a histogram are as high as their lists are long', async (t) => {
  const { url } = await startReaderPage(t)
  for (const [query, total] of [
    ['event=name-0', 20],
    ['event=name-1&version=2.0', 19],
    ['user=user-1&event=ui+ANR', 2],
  ] as const) {
    const { text } = await view(url, `/events?app=${application}&${query}`)
    const columns = [
      ...text.matchAll(/<a href="([^"]*)"\s*>[^<]*<\/a\s*>\s*<td class="num">([\d,]+)/g),
    ]
    const filled = columns.filter(([, , count]) => count !== '0')
    t.equal(
      filled.reduce((sum, [, , count]) => sum + Number(count), 0),
      total,
      query,
    )
    for (const [, href = '', count] of filled) {
      const list = await view(url, `/events${href.replaceAll('&#38;', '&')}`)
      t.equal(allIn(list.text, />this (device)</g).length, Number(count), href)
    }
  }
})

t.test('the links of a row keep the other filters', async (t) => {
  const { url } = await startReaderPage(t)
  const { text } = await view(url, `/events?app=${application}&event=seen`)
  t.match(text, `href="?app=${application}&#38;event=seen&#38;user=user-1"`)
  t.match(text, new RegExp(`href="\\?app=${application}&#38;event=seen&#38;device=`))
})

t.test('events of one batch are in the order in which they happened', async (t) => {
  const batch = 'com.example.batch'
  const received_at = new Date(nowMs - 30_000).toISOString()
  // ClickHouse does not sort UUIDs by the time in them, so sorting by id would give another order.
  await insert(
    'logs',
    Array.from({ length: 40 }, (_, n) => {
      const row = { bundle_identifier: batch, event: `e${n}`, received_at }
      return logRow({ ...atTime(nowMs - 50_000 + n), ...row })
    }),
  )
  const { url } = await startReaderPage(t)
  const { text } = await view(url, `/live?app=${batch}`)
  const newestFirst = Array.from({ length: 40 }, (_, n) => `e${39 - n}`)
  t.same(allIn(text, /<b><bdi>(e\d+)<\/bdi>/g), newestFirst)
})

t.test('every application has a path, also one that is named like a folder', async (t) => {
  for (const name of ['.', '..', '=', '=..', 'a/b', 'com.example.shop', '%2e']) {
    const { pathname } = new URL(applicationPath(name), 'http://page/')
    const [, folder, segment = ''] = pathname.split('/')
    t.equal(folder, 'applications')
    t.equal(applicationOf(decodeURIComponent(segment)), name)
  }
})

t.test('the catalogue counts events by version, and shows names as sent', async (t) => {
  const atMs = Date.now() - 600_000
  const catalogue = 'com.example.catalogue'
  const sent = (name: string, number: number, fields: object) =>
    events(atMs, number, { bundle_identifier: name, event: 'opened', ...fields })
  await insert('logs', [
    ...sent(catalogue, 12, { params: { 'a.b': 1 }, device: { version_code: 41200 } }),
    ...sent(catalogue, 1, { device: { version_code: 999_999_999 } }),
    ...sent('com.example.names', 1, { device: { version_name: '1.0' } }),
  ])
  await refresh()
  const { url } = await startReaderPage(t)
  const textOf = async (name: string) =>
    (await view(url, `/applications/${name}?tab=catalogue`)).text
  const text = await textOf(catalogue)
  t.match(text, 'Events by version: 999999999: 1 · 41200: 12')
  t.match(text, '<bdi>a.b</bdi>')
  t.notMatch(text, '%2E')
  t.match(await textOf('com.example.names'), 'Versions are compared by name')
})

t.test('a comparison leaves out the step that is not over', async (t) => {
  const own = { bundle_identifier: 'com.example.steady' }
  const steps = stepsOf('24h', nowMs)
  const hours = startsOf({ ...steps, from: 2 * steps.from - steps.to }).slice(0, -1)
  await insert(
    'logs',
    hours.flatMap((at) => events(at + hourMs - 1_000, 1, own)),
  )
  await refresh()
  for (const isSmall of [true, false]) {
    const options = { steps, application: own.bundle_identifier }
    const data = await readSummary(countReader(owner, { isSmall }), {
      ...options,
      orElse: (reading) => reading,
    })
    for (const name of ['events', 'devices'] as const)
      t.match(
        String(countTile({ data, period: '24h', ...options }, name)),
        /23 before">±0 %</,
        name,
      )
  }
})
