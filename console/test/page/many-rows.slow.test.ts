import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { asLarge, lateState, linksIn, startRowStore, textOf, view } from './fixture.ts'

const { owner, connectReader, startReaderPage } = await startRowStore(t)
// These tests insert counts without the records that were counted.
const reader = asLarge(connectReader(t))

t.test('more than 1,000 applications are no failure of any view', async (t) => {
  await owner.command(`INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, device_states, ver)
    SELECT concat('com.example.a', toString(number)), toStartOfHour(now('UTC')),
      [('opened', 1, '1', number + 1)], [('1', (SELECT hex(uniqCombined64State(12)(generateUUIDv4()))))], 1
    FROM numbers(1100)`)
  const { url, lines } = await startReaderPage(t, { reader })
  for (const path of ['/', '/events', '/live', '/feedback', '/status'])
    t.match(await view(url, path), { status: 200 }, path)
  t.same(lines, [])
  const { text } = await view(url, '/')
  const row = /applications\/com\.example\.a1099\?[^]*?(?=<tr>|<\/tbody>)/.exec(text)?.[0]
  t.match(row, /data-label="Events">1,100<[^]*data-label="Devices">1</, 'with its devices')
  t.match(text, '50 applications: of each API key those with most events.')
})

t.test('who invents applications hides none that an API key names', async (t) => {
  await owner.command(`INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, device_states, ver)
    SELECT concat('team.a', toString(intDiv(number, 4))), toStartOfHour(now('UTC')) - toIntervalHour(30 + 24 * (number % 4)),
      [('opened', 1, '1', 5000)], [], 1
    FROM numbers(20000)`)
  await owner.command(`INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, device_states, ver)
    SELECT arrayJoin(['named.app', 'team.shop.app']), toStartOfHour(now('UTC')) - toIntervalHour(30 + number), [('opened', 1, '1', 1)], [], 1
    FROM numbers(100)`)
  const state = { ...lateState, scopes: async () => ["it's", 'named.app', 'team.*', 'team.shop.*'] }
  const { url } = await startReaderPage(t, { reader, state })
  const { text } = await view(url, '/?period=7d&all=')
  const found = textOf((await view(url, '/search?q=opened')).text)
  for (const name of ['named.app', 'team.shop.app']) {
    const link = `<a href="/applications/${name}`
    t.ok(text.includes(`${link}">`), `${name} is silent`)
    t.ok(text.includes(`${link}?period=7d">`), `${name} is in the table`)
    t.match(found, `opened ${name}`, `${name} is found`)
  }
})

t.test('a catalogue of any size is shown in pages', async (t) => {
  await owner.command(`INSERT INTO intake.days_raw (bundle_identifier, day, entries, warnings, ver)
    SELECT 'shop', today(), arrayConcat(
        arrayMap(n -> (concat('event', leftPad(toString(n), 3, '0')), '', 'event', 1, '1', now64(3, 'UTC'), now64(3, 'UTC'), 1, 1), range(500)),
        [('unusual', '', 'event', 2, '2', now64(3, 'UTC'), now64(3, 'UTC'), 1, 1)]),
      arrayMap(n -> ('email', concat('event', leftPad(toString(n), 3, '0')), 'to', '1', now64(3, 'UTC'), now64(3, 'UTC'), 1, toUUID('01a1fc28-0000-7000-8000-000000000001')), range(250)), 1`)
  const { url } = await startReaderPage(t, { reader })
  const first = '/applications/shop?tab=catalogue'
  const { text } = await view(url, first)
  const next = linksIn(text, first).filter((link) => /(drift|warnings|entries)=2/.test(link))
  t.equal(next.length, 3, 'each table says that there is more')
  t.equal(text.match(/Rows 1 to 100\./g)?.length, 3)

  // Collects the rows of each table from all its pages. No row may be missing.
  for (const [id, size] of Object.entries({ drift: 501, warnings: 250, entries: 501 })) {
    const names = new Set<string>()
    for (let path: string | undefined = first, number = 1; path !== undefined;) {
      const { status, text: page } = await view(url, path)
      t.equal(status, 200, path)
      const [section = ''] = new RegExp(`<section[^>]*id="${id}"[^]*?</section>`).exec(page) ?? []
      for (const [name] of section.matchAll(/event\d{3}|unusual/g)) names.add(name)
      number++
      path = linksIn(section, path).find((link) => link.includes(`${id}=${number}`))
    }
    t.equal(names.size, size, id)
  }
  t.match(await view(url, `${first}&entries=99`), { status: 200, text: 'There are no more.' })
  t.match(await view(url, `${first}&entries=0`), { status: 400, text: 'the number of a page' })
})

t.test('a view says which versions and outcomes it leaves out', async (t) => {
  await owner.command(`INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, device_states, ver)
    SELECT 'com.example.versions', toStartOfHour(now('UTC')) - INTERVAL 1 HOUR,
      arrayMap(n -> ('opened', n, toString(n), 1), range(120)), [], 1`)
  await owner.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
    SELECT toStartOfMinute(now('UTC')) - INTERVAL 5 MINUTE, concat('key_', toString(number)), 'logs', 'invalid_event', generateUUIDv4(), 1
    FROM numbers(250)`)
  const { url } = await startReaderPage(t, { reader })
  const application = await view(url, '/applications/com.example.versions')
  t.match(application.text, 'The 100 versions with most events.')
  t.match(application.text, /<h2>Events<\/h2>\s*<b>120<\/b>/, 'all events are counted')
  t.match((await view(url, '/status')).text, 'Of the 200 most frequent outcomes of a key.')
  for (const path of ['/', '/live'])
    t.match((await view(url, path)).text, 'The 8 most frequent.', path)
})

t.test('names of a megabyte leave every view small, and are no links', async (t) => {
  const long = (letter: string) => `repeat('${letter}', 1000000)`
  await owner.command(`INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, device_states, ver)
    SELECT 'com.example.long', toStartOfHour(now('UTC')) - INTERVAL 1 HOUR,
      [('opened', 1, ${long('v')}, 1000000)],
      [(${long('v')}, (SELECT hex(uniqCombined64State(12)(generateUUIDv4()))))], 1`)
  await owner.command(`INSERT INTO intake.days_raw (bundle_identifier, day, entries, warnings, ver)
    SELECT 'com.example.long', today(),
      [('opened', ${long('p')}, 'text', 1, ${long('v')}, now64(3, 'UTC'), now64(3, 'UTC'), 1, 1)],
      [('email', 'opened', ${long('w')}, ${long('v')}, now64(3, 'UTC'), now64(3, 'UTC'), 1, toUUID('01a1fc28-0000-7000-8000-000000000001'))], 1`)
  const { url } = await startReaderPage(t, { reader })
  const application = '/applications/com.example.long'
  for (const path of ['/', '/events', application, `${application}?tab=catalogue`]) {
    const { status, text } = await view(url, path)
    t.equal(status, 200, path)
    t.ok(text.length < 300_000, `${path} has ${text.length} characters`)
    t.notOk(
      linksIn(text, path).some((link) => link.includes('vvvv')),
      path,
    )
  }
})

const failing = (failure: ClickHouseError): Parameters<typeof startReaderPage>[1] => ({
  reader: {
    query: (sql, params) =>
      /FROM intake\.(hours|device_hours|outcomes)\b/.test(sql)
        ? Promise.reject(failure)
        : reader.query(sql, params),
    lines: (sql, params) => reader.lines(sql, params),
  },
})

t.test('a view of which ClickHouse refuses a part says so', async (t) => {
  const refusal = new ClickHouseError('no grant', { kind: 'operator', code: 497 })
  const { url } = await startReaderPage(t, failing(refusal))
  t.match(await view(url, '/'), { status: 503, text: 'who may read the views' })
})

t.test('a view without the counts that ClickHouse cannot make says so', async (t) => {
  const tooMuch = new ClickHouseError('too much', { kind: 'split', code: 241 })
  const { url } = await startReaderPage(t, failing(tooMuch))
  const { status, text } = await view(url, '/')
  t.equal(status, 200)
  t.match(text, 'Some parts could not be counted')
  t.match(text, /<h2>Refused<\/h2>\s*<b>–<\/b>/)
  t.match(text, 'Not counted.')
  t.match(await view(url, '/events?from=2026-11-01T00:00:00Z&event=x&user=y'), { status: 200 })
})
