import t from 'tap'
import { answerOf } from './fake-intake.ts'
import { createHost } from './host.ts'

/**
 * A device behind a filter that refuses each request with `word` by the page of a proxy, or by a
 * reset of the connection if the status is 0.
 */
function createFiltered(word: string, status: number) {
  const host = createHost()
  const { transport } = host.server
  const filter = { isOn: true, refusals: 0 }
  host.server.transport = async (request) => {
    if (!filter.isOn || !JSON.stringify(request.body).includes(word)) return transport(request)
    filter.refusals++
    if (status === 0) throw new Error('reset')
    return answerOf(status, '<html>')
  }
  return { host, filter }
}

for (const status of [200, 302, 401, 403, 404, 405, 406])
  t.test(`a filter that answers ${status} to one event delays no other by minutes`, async (t) => {
    const { host, filter } = createFiltered('poison', status)
    const client = host.start()
    for (let n = 0; n < 50; n++) client.log(n === 20 ? 'poison' : 'tap')
    await host.time.advance(6000)
    client.log('behind')
    await host.time.advance(40_000)
    t.ok(host.server.events().includes('behind'))
    await host.time.advance(240_000)
    t.equal(host.server.rows.size, 50, 'not even those of its batch')
    await host.time.advance(4 * 3_600_000)
    t.equal(client.stats().pending.logs, 1)
    t.ok(filter.refusals < 50, `${filter.refusals} refusals`)
    filter.isOn = false
    await host.time.advance(1_800_000)
    t.ok(host.server.events().includes('poison'), 'and it is kept')
    t.same(client.stats().dropped, {})
    t.equal(host.server.repeats(), 0)
  })

t.test('a connection that one event resets delays no other for long', async (t) => {
  const { host, filter } = createFiltered('poison', 0)
  const client = host.start()
  for (let n = 0; n < 60; n++) {
    client.log(n === 10 ? 'poison' : 'tap')
    await host.time.advance(30_000)
  }
  t.equal(host.server.rows.size, 59)
  await host.time.advance(4 * 3_600_000)
  t.ok(filter.refusals < 100, `${filter.refusals} resets`)
  filter.isOn = false
  await host.time.advance(1_800_000)
  t.ok(host.server.events().includes('poison'))
})

for (const count of [1, 30])
  t.test(`${count} events that a proxy refuses for ten seconds are minutes late`, async (t) => {
    const { host, filter } = createFiltered('', 404)
    const client = host.start()
    for (let n = 0; n < count; n++) {
      client.log('tap')
      void client.flush()
      await host.time.advance(10_000 / count)
    }
    filter.isOn = false
    await host.time.advance(120_000)
    t.equal(host.server.rows.size, count)
  })

t.test('many events that a filter refuses delay no other', async (t) => {
  const { host } = createFiltered('poison', 403)
  const client = host.start()
  for (let n = 0; n < 30; n++) {
    client.log('poison')
    void client.flush()
    await host.time.advance(100)
  }
  await host.time.advance(6 * 3_600_000)
  const { size } = host.server.rows
  client.log('tap')
  await host.time.advance(910_000)
  t.equal(host.server.rows.size, size + 1)
})

t.test('after a restart, what a filter refuses gives way to what is new', async (t) => {
  const { host } = createFiltered('poison', 403)
  const first = host.start()
  for (let n = 0; n < 20; n++) {
    first.log('poison')
    if (n > 5) await first.feedback({ text: 'poison' })
    void first.flush()
    await host.time.advance(100)
  }
  await host.time.advance(6 * 3_600_000)
  const second = host.start()
  second.log('tap')
  await second.feedback({ text: 'later' })
  await host.time.advance(60_000)
  t.same(host.server.events(), ['tap'])
  t.equal(host.server.feedback.length, 1)
})

t.test('where most batches are refused, the others still arrive', async (t) => {
  const { host } = createFiltered('poison', 403)
  const client = host.start()
  for (let s = 0; s < 7200; s++) {
    client.log(s % 20 === 0 ? 'poison' : 'tap')
    await host.time.advance(1000)
  }
  const { size } = host.server.rows
  t.ok(size > 4000, `${size} of 6,840`)
})

t.test('a portal that refuses everything gets few requests, and costs nothing', async (t) => {
  const { host, filter } = createFiltered('', 403)
  const client = host.start()
  for (let n = 0; n < 1000; n++) {
    client.log('tap', { n })
    await host.time.advance(20_000)
  }
  t.ok(filter.refusals < 100, `${filter.refusals} requests in 5.5 hours`)
  filter.isOn = false
  await host.time.advance(1_900_000)
  t.equal(host.server.rows.size, 1000)
  t.ok(host.server.requests.length < 100, `${host.server.requests.length} requests`)
})

t.test('feedback that a filter has refused is sent without a restart', async (t) => {
  const { host, filter } = createFiltered('poison', 406)
  const client = host.start()
  for (let n = 0; n < 20; n++) await client.feedback({ text: 'poison' })
  await host.time.advance(24 * 3_600_000)
  t.match(await client.feedback({ text: 'later' }), { reason: 'feedback_full' })
  filter.isOn = false
  await host.time.advance(2 * 3_600_000)
  t.match(await client.feedback({ text: 'later' }), { isKept: true })
  await host.time.advance(1000)
  t.equal(host.server.feedback.length, 21)
})

t.test('what a proxy takes for too large is divided at once', async (t) => {
  const host = createHost()
  const { transport } = host.server
  host.server.transport = async (request) =>
    (request.body as string).length > 4000 ? answerOf(413, '<html>') : transport(request)
  const client = host.start()
  for (let n = 0; n < 100; n++) client.log('tap', { n })
  client.log('large', { text: 'x'.repeat(5000) })
  await client.flush()
  t.equal(host.server.rows.size, 100)
  t.same(client.stats().dropped, { http_413: 1 })
})

t.test('an id that a proxy may have passed on is not changed', async (t) => {
  for (const fault of ['unreachable', { status: 403, body: '<html>' }] as const) {
    const host = createHost()
    host.ahead = 3_600_000
    const client = host.start()
    host.server.faults.push(fault)
    const id = client.log('tap')
    await host.time.advance(60_000)
    t.same(client.stats().dropped, { expired: 1 })
    t.notOk(host.server.rows.has(id!))
  }
})

t.test('a suspended key divides no batch', async (t) => {
  const host = createHost()
  const suspended = { status: 403, retryAfter: '60', body: '{"code":"key_suspended"}' }
  host.server.faults = Array.from({ length: 8 }, () => suspended)
  const client = host.start()
  for (let n = 0; n < 50; n++) client.log('tap')
  await host.time.advance(4 * 3_600_000)
  t.equal(host.server.rows.size, 50)
  t.equal(host.server.requests.length, 9)
})
