import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { addDeadLetter } from '@intake/records'
import { ClickHouseError } from '@intake/clickhouse'
import { atTime, feedbackRow, logRow, uuidV7 } from '../../../packages/schema/test/fixture.ts'
import { ago, allIn, linksIn, startRowStore, view } from './fixture.ts'

const { owner, insert, startReaderPage } = await startRowStore(t)
const device = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'

t.test('feedback is found by text, application, version, user, device and time', async (t) => {
  const application = 'com.example.search'
  const rows = [
    { text: 'Der Knopf ist ZU klein', email: 'anna@example.com', unique_user_id: 'anna' },
    { text: 'crash on start', device: { version_name: '2.0', os: 'iOS' } },
    { text: 'half price 50%_off', device_uuid: device },
  ].map((fields, index) =>
    feedbackRow({ ...atTime(ago(1_000 + index)), bundle_identifier: application, ...fields }),
  )
  const old = ago(200 * 86_400)
  rows.push(feedbackRow({ ...atTime(old), bundle_identifier: application, text: 'old one' }))
  await insert('feedback', rows)
  const { url } = await startReaderPage(t)
  const texts = async (query: string) => {
    const { text } = await view(url, `/feedback?app=${application}&${query}`)
    return allIn(text, /<li[^>]*>\s*<a[^>]*>\s*<bdi>(.*?)<\/bdi>/g)
  }
  const [button, crash, price, oldOne] = rows.map(({ text }) => text)
  for (const [query = '', ...found] of [
    ['', button, crash, price, oldOne],
    ['text=knopf', button],
    ['text=ANNA@', button],
    ['text=50%25_', price],
    ['version=2.0', crash],
    ['user=anna', button],
    [`device=${device}`, price],
    [`to=${old.slice(0, 10)}T23:59:59`, oldOne],
    [`from=${ago(1_001.5).slice(0, 23)}`, button, crash],
    ['text=nothing+like+this'],
  ])
    t.same(await texts(query), found, query)
})

t.test('pages follow each other without a gap, also among equal ids', async (t) => {
  const application = 'com.example.pages'
  const shared = atTime(ago(2_000))
  const rows = Array.from({ length: 130 }, (_, n) => {
    // The first 70 records have the same id but different devices.
    const identity = n < 70 ? shared : atTime(ago(2_100 + n))
    return logRow({ ...identity, bundle_identifier: application, event: `event ${n}` })
  })
  await insert('logs', rows)
  const { url } = await startReaderPage(t)
  const seen: string[] = []
  let path: string | undefined = `/events?app=${application}`
  let pages = 0
  while (path !== undefined) {
    const { text } = await view(url, path)
    seen.push(...allIn(text, /<b><bdi>(event \d+)<\/bdi>/g))
    const [, next] = /<a href="([^"]*)">Older<\/a>/.exec(text) ?? []
    path = next?.replaceAll('&#38;', '&')
    pages++
  }
  t.equal(pages, 3)
  t.equal(seen.length, 130)
  t.equal(new Set(seen).size, 130)
})

t.test('a feedback shows all its columns and the events around it', async (t) => {
  const application = 'com.example.around'
  const own = { bundle_identifier: application, device_uuid: device }
  await insert('logs', [
    logRow({ ...atTime(ago(5_100)), ...own, event: 'before' }),
    logRow({ ...atTime(ago(4_900)), ...own, event: 'later' }),
    logRow({ ...atTime(ago(5_000 + 40 * 86_400)), ...own, event: 'long before' }),
    logRow({ ...atTime(ago(5_000)), bundle_identifier: application, event: 'other' }),
  ])
  const { id, time } = atTime(ago(5_000))
  const feedback = feedbackRow({
    id,
    time,
    ...own,
    text: 'It broke',
    device: { os: 'Android', battery_level: 12.5 },
    extra: { rating: 4, 'a.b': { deep: [1, { c: 2 }] } },
  })
  await insert('feedback', [feedback])
  const { url } = await startReaderPage(t)
  const { text } = await view(url, `/feedback/${id}`)
  t.match(text, 'It broke')
  t.match(text, /battery_level<\/bdi>\s*<dd><span class="json"><bdi>12\.5/)
  t.match(text, 'rating')
  const events = allIn(text, /<a\s+href="\/events\/[^>]*><bdi>(.*?)<\/bdi><\/a/g)
  t.same(events, ['long before', 'before', 'later'])

  await t.test('no link forgets the application that the reader has chosen', async (t) => {
    for (const path of [`/feedback/${id}`, '/feedback', '/events', '/dead-letters']) {
      const { text: limited } = await view(url, `${path}?app=${application}`)
      const links = linksIn(limited.slice(limited.indexOf('<main')), path)
      t.same(
        links.filter(
          (link) =>
            /^.(?!help|attachments|applications)/.test(link) &&
            !link.includes(`app=${application}`),
        ),
        [],
        path,
      )
    }
  })

  await t.test('it is found by its id and by its request_id', async (t) => {
    const byId = await fetch(`${url}/search?q=${id.toUpperCase()}`, { redirect: 'manual' })
    t.equal(byId.status, 303)
    t.equal(byId.headers.get('location'), `/feedback/${id}`)
    const byRequest = await view(url, `/search?q=${feedback.request_id}`)
    t.match(byRequest.text, `/feedback/${id}`)
    const [event] = await owner.query<{ request_id: string; id: string }>(
      `SELECT request_id, id FROM intake.logs WHERE event = 'later'`,
    )
    t.match((await view(url, `/search?q=${event?.request_id}`)).text, `/events/${event?.id}`)
    t.match((await view(url, `/search?q=${uuidV7(time)}`)).text, 'No record, dead letter,')
  })
})

t.test('a record shows all digits of an integer, and every name, as they were sent', async (t) => {
  const { id, time } = atTime(ago(60))
  const sent =
    '{"plain":9007199254740993,"list":[-9223372036854775808,1],"a":{"b":{"c":{"d":18446744073709551615}}},' +
    '"double":2.5e19,"small":12.5,"q\\"1":"one","q\\"2":"two","odd":{"a":{"isLosslessNumber":true}}}'
  const { device: _, params: __, ...head } = logRow({ id, time, event: 'exact' })
  const line = JSON.stringify(head).replace(
    '"device_extra":{}',
    `"device_extra":${sent},"extra":${sent},"params":${sent},"device":{"version_code":9223372036854775807}`,
  )
  await owner.insertRows({ table: 'logs', members: [gzipSync(line)], rows: 1 })
  const { url } = await startReaderPage(t)
  const { status, text } = await view(url, `/events/${id}`)
  t.equal(status, 200)
  const shown = Array.from(
    text.matchAll(
      /<dt><bdi>([^<]*)<\/bdi>\s*<dd>\s*(?:<a[^>]*>)?(?:<span class="json">)?<bdi>([^<]*)<\/bdi>/g,
    ),
    ([, name, value]) => [name, value] as const,
  )
  const valuesOf = (name: string) => shown.filter(([one]) => one === name).map(([, value]) => value)
  t.same(valuesOf('version_code'), ['9223372036854775807'])
  for (const [name, value] of [
    ['plain', '9007199254740993'],
    ['list', '[-9223372036854775808,1]'],
    ['b', '{&#34;c&#34;:{&#34;d&#34;:18446744073709551615}}'],
    ['double', '25000000000000000000'],
    ['small', '12.5'],
    ['q&#34;1', 'one'],
    ['q&#34;2', 'two'],
  ] as const)
    t.same(valuesOf(name), [value, value, value], name)
  t.match(text, '{&#34;isLosslessNumber&#34;:true}')
})

t.test('dead letters are shown with their reason, also by an id of the record', async (t) => {
  const row = logRow({ ...atTime(ago(50)), event: 'rejected event' })
  const feedback_id = randomUUID()
  // Some clients write UUIDs in capitals, and the row of a dead letter is kept as it was sent.
  const opinion = feedbackRow({ ...atTime(ago(49)), feedback_id: feedback_id.toUpperCase() })
  const refusal = new ClickHouseError('x', {
    kind: 'rejected',
    code: 6,
    serverText: 'Cannot parse it',
  })
  await addDeadLetter(owner, { table: 'logs', row: JSON.stringify(row), refusal })
  await addDeadLetter(owner, { table: 'feedback', row: JSON.stringify(opinion), refusal })
  const { url } = await startReaderPage(t)
  for (const path of ['/dead-letters', `/search?q=${row.id}`, `/search?q=${row.request_id}`]) {
    const { text } = await view(url, path)
    t.match(text, 'Cannot parse it')
    t.match(text, 'code 6')
    t.match(text, 'rejected event')
  }
  t.match((await view(url, `/search?q=${feedback_id}`)).text, 'Cannot parse it')
})

t.test('several records of one id are a list, because each may be large', async (t) => {
  const { id, time } = atTime(ago(400))
  const devices = Array.from({ length: 12 }, () => randomUUID() as string)
  await insert(
    'logs',
    devices.map((device_uuid) => logRow({ id, time, device_uuid, event: 'same id' })),
  )
  const { url } = await startReaderPage(t)
  const { text } = await view(url, `/events/${id}`)
  t.notMatch(text, 'same id')
  const links = linksIn(text, `/events/${id}`).filter((link) => link.startsWith('/events/'))
  t.equal(links.length, 10)
  t.match(await view(url, links[0]!), { status: 200, text: 'same id' })
  // Who sends the id of somebody else's record cannot hide that record.
  for (const one of devices)
    for (const written of [one, one.toUpperCase()])
      t.match(await view(url, `/events/${id}?device=${written}`), { status: 200, text: 'same id' })
  t.match(await view(url, `/events/${id}?device=${randomUUID()}`), { status: 404 })
})

t.test('dead letters of one moment are on one page or the next', async (t) => {
  const time = ago(86_400)
  await owner.command(`INSERT INTO intake.dead_letters_raw
      (table, bundle_identifier, time, id, device_uuid, failed_at, error_code, error, row, ver)
    SELECT 'logs', 'com.example.letters', '${time.slice(0, 19)}', generateUUIDv7(number), '${device}',
      '2026-11-20 10:00:00.000', 6, concat('letter ', toString(number), '.'), '{}', 1
    FROM numbers(120)`)
  const { url } = await startReaderPage(t)
  const seen = new Set<string>()
  const list = '/dead-letters?app=com.example.letters'
  for (let path: string | undefined = list, next = 2; path !== undefined; next++) {
    const { text } = await view(url, path)
    for (const [, n] of text.matchAll(/letter (\d+)\./g)) seen.add(n!)
    path = linksIn(text, path).find((link) => link === `${list}&page=${next}`)
  }
  t.equal(seen.size, 120)
  t.match(await view(url, '/dead-letters?page=x'), { status: 400 })
})
