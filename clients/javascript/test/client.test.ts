import t from 'tap'
import { dayMs } from '../src/core/limits.ts'
import { timeOfUuid } from '../src/core/uuid.ts'
import { offline } from './fake-intake.ts'
import { createHost, deviceUuid, serverStart } from './host.ts'

t.test('an event becomes one row with its id, time, device, user and sequence', async (t) => {
  const host = createHost()
  const client = host.start({ userId: 'user-1', device: { version_name: '1.2' } })
  const id = client.log('tap', { button: 'buy' })
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 1)
  const row = host.server.rows.get(id!)!
  t.match(row, { event: 'tap', params: { button: 'buy' }, sequence: 1 })
  t.equal(timeOfUuid(id!), serverStart)
  t.match(row.batch, {
    bundle_identifier: 'com.example.app',
    device: { os: 'Test', version_name: '1.2' },
    device_uuid: deviceUuid,
    unique_user_id: 'user-1',
  })
  t.same(client.stats().pending, { logs: 0, feedback: 0 })
  t.same(await host.storage.list(), [], 'nothing is left')
})

t.test('the constructor does no I/O', (t) => {
  const host = createHost()
  const forbidden = new Proxy(host.storage, {
    get: () => () => t.fail('storage was used'),
  })
  host.start({}, { storage: forbidden, device: async () => t.fail('the device was read') as never })
  t.same(host.server.requests, [])
  t.end()
})

t.test('a code that is named like a member of every object is counted', async (t) => {
  const host = createHost()
  const client = host.start()
  host.server.faults.push({ status: 422, body: '{"code":"constructor"}' })
  client.log('refused')
  await client.flush()
  t.same(client.stats().dropped, { constructor: 1 })
})

t.test('a page that pretends to be Intake is no success', async (t) => {
  const host = createHost()
  const client = host.start()
  host.server.faults.push(
    { status: 207, body: '<html>' },
    { status: 200, body: '{"results":[]}' },
    { status: 207, body: '{"results":[{"status":1}]}' },
    { status: 404, body: '<html>' },
  )
  client.log('tap')
  await host.time.advance(3_600_000)
  t.equal(host.server.rows.size, 1)
})

t.test('what was rejected is reported by reason in an event', async (t) => {
  const host = createHost()
  const reasons: [string, number][] = []
  const client = host.start({ onDrop: (reason, count) => reasons.push([reason, count]) })
  host.server.reject = ({ event }) => (event === 'bad' ? 'a_code_of_next_year' : undefined)
  client.log('bad')
  client.log('good')
  client.log('')
  client.log('list', [])
  await host.time.advance(60_000)
  const report = [...host.server.rows.values()].find(({ event }) => event === 'intake.dropped')
  t.same(report?.params, { a_code_of_next_year: 1, invalid_event: 2 })
  t.same(reasons, [
    ['invalid_event', 1],
    ['invalid_event', 1],
    ['a_code_of_next_year', 1],
  ])
})

t.test('what the operator drops is not sent again, nor what has an unknown status', async (t) => {
  const host = createHost()
  const reasons: [string, number][] = []
  const client = host.start({ onDrop: (reason, count) => reasons.push([reason, count]) })
  host.server.leaveOut = ({ event }) => ({ noise: 'dropped', odd: 'parked' })[event]
  for (const event of ['noise', 'odd', 'tap']) client.log(event)
  await host.time.advance(3_600_000)
  const sent = host.server.batches.flatMap(({ logs }) => logs.map(({ event }) => event))
  t.same(sent, ['noise', 'odd', 'tap', 'intake.dropped'])
  t.same(reasons, [['unknown', 1]], 'only the unknown status counts as lost')
  t.equal(client.stats().pending.logs, 0)
})

t.test('a clock that is wrong by days is corrected for events that were never sent', async (t) => {
  const host = createHost()
  host.ahead = -3 * dayMs
  const client = host.start()
  host.server.faults.push('lost')
  client.log('sent')
  void client.flush()
  await host.time.advance(0)
  const sent = host.time.now()
  client.log('waiting')
  await host.time.advance(60_000)
  client.log('later')
  const later = host.time.now()
  await host.time.advance(60_000)
  const errors = [...host.server.rows.values()].map(({ event, id, timestamp }) => {
    const madeAt = serverStart + (event === 'later' ? later : sent)
    return [event, Math.round((timeOfUuid(id) - madeAt) / 5000) * 5000, timestamp]
  })
  t.same(errors, [
    ['sent', -3 * dayMs, undefined],
    ['waiting', 0, '2026-11-18T12:00:00.000Z'],
    ['later', 0, '2026-11-18T12:01:00.000Z'],
  ])
})

t.test('the oldest log events give way, feedback never', async (t) => {
  const host = createHost()
  const client = host.start({ storageEventsMax: 100 })
  host.server.transport = offline
  await client.feedback({ text: 'Kept' })
  for (let n = 0; n < 1000; n++) client.log('tap', { n })
  await host.time.advance(1000)
  const { pending, dropped } = client.stats()
  t.ok(pending.logs <= 100 && pending.logs >= 90, String(pending.logs))
  t.equal(pending.feedback, 1)
  t.equal(dropped['queue_full'], 1000 - pending.logs)
  t.ok((await host.storage.list()).length < 20)
})

t.test('what every segment has in common counts for the bound of storage too', async (t) => {
  const host = createHost()
  const client = host.start({ device: { device_model: 'x'.repeat(2000) }, storageBytesMax: 50_000 })
  host.server.transport = offline
  for (let n = 0; n < 200; n++) {
    client.log('tap', { n })
    await host.time.advance(5000)
  }
  const names = (await host.storage.list()).filter((name) => name.split('.').length === 7)
  const texts = await Promise.all(names.map((name) => host.storage.read(name)))
  const bytes = texts.reduce((sum, text = '') => sum + text.length, 0)
  t.ok(bytes <= 55_000, String(bytes))
  t.ok(client.stats().pending.logs >= 10, 'and not more than needed is given up')
})

t.test('stats name the last request that failed', async (t) => {
  const host = createHost()
  const client = host.start()
  t.equal(client.stats().lastError, undefined)
  const time = /^2026-11-21T12:/
  const detail = 'The queue is full.'
  for (const [fault, expected] of [
    ['unreachable', { time, status: 0, code: 'http_0', message: 'unreachable' }],
    [
      { status: 502, body: '<html>' },
      { time, status: 502, code: 'http_502', message: undefined },
    ],
    [
      { status: 200, body: '<html>' },
      { time, status: 200, code: 'http_200', message: undefined },
    ],
    [
      { status: 503, body: JSON.stringify({ code: 'queue_full', detail }) },
      { time, status: 503, code: 'queue_full', message: detail },
    ],
  ] as const) {
    host.server.faults = [fault]
    client.log('tap')
    await host.time.advance(60_000)
    t.match(client.stats().lastError, expected)
  }
  const { lastError } = client.stats()
  client.log('tap')
  await host.time.advance(60_000)
  t.equal(client.stats().lastError, lastError, 'a success does not hide it; its time tells')
})
