import { readFileSync } from 'node:fs'
import t from 'tap'
import { documentedQueries } from '@intake/test-kit/documented-queries'
import { feedbackRow, insertRows, logRow, startServer, uuidV7 } from './fixture.ts'

// Checks the results of the documented queries for events that are less than a second apart.
const { connect } = await startServer(t)
const clickhouse = connect(t)
const page = new URL('../../../docs/queries.md', import.meta.url)
const recipes = documentedQueries(readFileSync(page, 'utf8'))

let applications = 0

/** Creates a new application with one device, and functions for its events. */
function createDevice() {
  const sender = {
    bundle_identifier: `com.example.app${++applications}`,
    device_uuid: logRow().device_uuid,
  }
  /**
   * @param time time after 10 o'clock, `mm:ss.mmm`
   */
  const at = (time: string) => {
    const iso = `2026-11-10T10:${time}Z`
    return { ...sender, id: uuidV7(iso), time: iso, received_at: iso }
  }
  return {
    at,
    event: (time: string, fields: object) => logRow({ ...at(time), ...fields }),
    async insert(rows: object[], table: 'logs' | 'feedback' = 'logs') {
      await insertRows(clickhouse, table, rows)
    },
    ask: (title: string, params: object = {}) => {
      const { sql = '' } = recipes.find((recipe) => recipe.title === title) ?? {}
      const period = { from: '2026-11-10 00:00:00', to: '2026-11-11 00:00:00' }
      return clickhouse.query(sql, { app: sender.bundle_identifier, ...period, ...params })
    },
  }
}

const open = { event: 'app_open' }
const cart = { event: 'screen_view', params: { screen: 'cart' } }
const buy = { event: 'purchase' }

t.test('a funnel counts the steps of a second in their order', async (t) => {
  const backwards = createDevice()
  await backwards.insert([
    backwards.event('00:00.100', buy),
    backwards.event('00:00.200', cart),
    backwards.event('00:00.300', open),
  ])
  t.same(await backwards.ask('Funnel'), [{ opened: 1, saw_cart: 0, bought: 0 }])

  const forwards = createDevice()
  await forwards.insert([
    forwards.event('00:00.300', buy),
    forwards.event('00:00.200', cart),
    forwards.event('00:00.100', open),
  ])
  t.same(await forwards.ask('Funnel'), [{ opened: 1, saw_cart: 1, bought: 1 }])
})

t.test('a funnel includes the last millisecond of its hour, and steps of one', async (t) => {
  const inTime = createDevice()
  await inTime.insert(
    [
      inTime.event('00:00.500', open),
      inTime.event('00:00.500', cart),
      logRow({ ...inTime.at('00:00.000'), ...buy, time: '2026-11-10T11:00:00.500Z' }),
    ].map((row) => ({ ...row, id: uuidV7(row.time) })),
  )
  t.same(await inTime.ask('Funnel'), [{ opened: 1, saw_cart: 1, bought: 1 }])

  const late = createDevice()
  const time = '2026-11-10T11:00:00.501Z'
  await late.insert([
    late.event('00:00.500', open),
    late.event('00:01.000', cart),
    logRow({ ...late.at('00:00.000'), ...buy, time, id: uuidV7(time) }),
  ])
  t.same(await late.ask('Funnel'), [{ opened: 1, saw_cart: 1, bought: 0 }])
})

t.test('a session across the boundary of a second is not a second long', async (t) => {
  const device = createDevice()
  await device.insert([device.event('00:00.900', open), device.event('00:01.100', cart)])
  t.match(await device.ask('Sessions per day'), [{ median_seconds: 0.2, events: 2 }])
})

t.test('an event that took less than a minute arrived within a minute', async (t) => {
  const device = createDevice()
  await device.insert([
    device.event('00:00.999', { ...open, received_at: '2026-11-10T10:01:00.998Z' }),
    device.event('00:00.999', { ...cart, received_at: '2026-11-10T10:01:00.999Z' }),
  ])
  t.same(await device.ask('Late events'), [
    { arrived: '1: within a minute', events: 1 },
    { arrived: '2: within an hour', events: 1 },
  ])
})

t.test('a clock is ahead by what it is ahead', async (t) => {
  const device = createDevice()
  const client_timestamp = '2026-11-10T10:02:00.100Z'
  await device.insert([device.event('00:00.900', { ...open, client_timestamp })])
  t.match(await device.ask('Clock skew'), [{ seconds_ahead: 119.2 }])
})

t.test('the last events before a feedback do not depend on the order of arrival', async (t) => {
  const ids = Array.from({ length: 60 }, () => uuidV7('2026-11-10T10:00:00.500Z'))
  const found = []
  for (const order of [ids, ids.toReversed()]) {
    const device = createDevice()
    // Inserts the rows as several parts, which ClickHouse reads in any order.
    for (let n = 0; n < 60; n += 20) {
      const some = order.slice(n, n + 20)
      await device.insert(some.map((id) => device.event('00:00.500', { id, event: id })))
    }
    await device.insert([device.event('00:00.501', { event: 'after' })])
    const feedback = feedbackRow(device.at('00:00.500'))
    await device.insert([feedback], 'feedback')
    const title = 'The last 50 events before a feedback'
    const events = await device.ask(title, { feedback: feedback.id })
    t.equal(events.length, 50)
    found.push(events.map(({ event }) => event))
  }
  t.same(found[0], found[1])
})

t.test('queries with a limit have a total order', (t) => {
  for (const { title, sql } of recipes) {
    if (!/\bLIMIT\b/.test(sql)) continue
    const [, order = ''] = /ORDER BY (.*)\nLIMIT/.exec(sql) ?? []
    t.match(order, /, \w+/, title)
  }
  t.end()
})
