import t from 'tap'
import { offline } from './fake-intake.ts'
import { createHost } from './host.ts'

t.test('a server that refuses everything is not asked again and again', async (t) => {
  for (const isWhole of [true, false]) {
    const host = createHost()
    const client = host.start()
    host.server.reject = () => 'quota_of_tomorrow'
    if (isWhole)
      host.server.faults = Array.from({ length: 1000 }, () => ({
        status: 400,
        body: '{"code":"invalid_request"}',
      }))
    client.log('tap')
    await host.time.advance(3_600_000)
    t.equal(host.server.requests.length, 1)
  }
})

t.test('an outage of hours leaves few segments, and needs few requests after it', async (t) => {
  const host = createHost()
  const send = host.server.transport
  host.server.transport = offline
  const client = host.start({ device: { build_fingerprint: 'x'.repeat(300) } })
  for (let n = 0; n < 1500; n++) {
    client.log('tap', { n })
    await host.time.advance(6000)
  }
  const names = await host.storage.list()
  t.ok(names.length <= 10, `${names.length} segments`)
  let bytes = 0
  for (const name of names) bytes += (await host.storage.read(name))!.length
  const told = client.stats().storageBytes
  t.ok(told >= bytes && told < bytes * 1.3, `${told} of ${bytes} bytes`)
  host.server.transport = send
  await host.time.advance(3_600_000)
  t.equal(host.server.rows.size, 1500)
  t.ok(host.server.requests.length <= 10, `${host.server.requests.length} requests`)
})

t.test('what another run has left counts with its size', async (t) => {
  const host = createHost()
  host.server.transport = offline
  const first = host.start()
  first.log('tap', { text: 'x'.repeat(10_000) })
  await first.stored()
  const next = host.start()
  await host.time.advance(1000)
  t.ok(next.stats().storageBytes > 10_000)
})

t.test('onDrop may log', async (t) => {
  const host = createHost()
  host.server.transport = offline
  let depth = 0
  const client = host.start({
    storageEventsMax: 100,
    onDrop(reason, count) {
      t.equal(++depth, 1)
      client.log('dropped', { reason, count })
      depth--
      throw new Error('and may fail')
    },
  })
  for (let n = 0; n < 300; n++) client.log('tap', { n })
  await host.time.advance(1000)
  t.ok(client.stats().pending.logs <= 100)
})

t.test('the end of a page obeys Retry-After', async (t) => {
  const host = createHost()
  const client = host.start({}, { pageEndBytes: () => 60_000 })
  host.server.faults.push({ status: 429, retryAfter: '3600', body: '{"code":"rate_limited"}' })
  client.log('first')
  await host.time.advance(6000)
  for (let n = 0; n < 20; n++) {
    client.log('hidden')
    client.leavePage()
    await host.time.advance(10_000)
    client.wake()
  }
  t.equal(host.server.requests.length, 1)
  await host.time.advance(2 * 3_600_000)
  t.equal(host.server.rows.size, 21)
})
