import { inspect } from 'node:util'
import t from 'tap'
import { offline } from './fake-intake.ts'
import { createHost } from './host.ts'

t.test('a timeout of any length and no options are accepted by flush', async (t) => {
  for (const timeoutMs of [Infinity, 3e9]) {
    const host = createHost()
    const client = host.start()
    host.server.faults.push('unreachable')
    client.log('tap')
    const flushing = client.flush({ timeoutMs })
    await host.time.advance(60_000)
    t.same(await flushing, { left: 0 })
  }
  const client = createHost().start()
  t.same(await client.flush(null), { left: 0 })
  t.same(await client.shutdown(null), { left: 0 })
})

t.test('flush also sends the report of what was dropped', async (t) => {
  const host = createHost()
  const client = host.start()
  client.log('')
  client.log('tap')
  t.same(await client.flush(), { left: 0 })
  const events = host.server.events()
  t.same(events, ['tap', 'intake.dropped'])
})

t.test('a part of retryMs keeps the default of the other part', async (t) => {
  for (const retryMs of [{ min: 10 }, { max: 2000 }, { min: undefined }]) {
    const host = createHost()
    host.server.transport = offline
    let requests = 0
    const client = host.start(
      { retryMs },
      { transport: async () => Promise.reject(new Error(`offline ${++requests}`)) },
    )
    client.log('tap')
    await host.time.advance(65_000)
    t.ok(requests > 1 && requests < 100, `${requests} requests in a minute`)
  }
})

t.test('an address or a key that can never work is refused', (t) => {
  for (const wrong of [
    { url: '127.0.0.1:3000' },
    { url: 'intake.example.com' },
    { url: ' https://intake.example.com' },
    { url: 'ftp://intake.example.com' },
    { apiKey: 'ik_ü' },
    { apiKey: 'ik_test\n' },
    { apiKey: '' },
    { apiKey: undefined },
    { apiKey: null },
    { url: undefined },
    { bundleIdentifier: '' },
    { bundleIdentifier: undefined },
  ])
    t.throws(() => createHost().start(wrong as never), TypeError, inspect(wrong))
  for (const url of ['/i', 'http://127.0.0.1:3000', 'HTTPS://example.com/i/'])
    t.doesNotThrow(() => createHost().start({ url }), url)
  t.end()
})

t.test('beforeSend cannot change the objects of the app', async (t) => {
  const host = createHost()
  const client = host.start({
    beforeSend(event) {
      delete event.params['secret']
      delete (event.params['deep'] as { secret?: string }).secret
      return event
    },
  })
  const params = { secret: 'x', deep: { secret: 'y' }, n: 1 }
  client.log('tap', params)
  await host.time.advance(10_000)
  t.same(params, { secret: 'x', deep: { secret: 'y' }, n: 1 })
  const [row] = host.server.rows.values()
  t.same(row!.params, { deep: {}, n: 1 })
})

t.test('params may be null, of an interface, or no JSON', async (t) => {
  interface Cart {
    items: number
  }
  const cart: Cart = { items: 3 }
  const host = createHost()
  const client = host.start()
  client.log('null', null)
  client.log('cart', cart)
  client.log('big', { total: 5n })
  client.log('error', new TypeError('outer'))
  await host.time.advance(10_000)
  const sent = Array.from(host.server.rows.values(), ({ params }) => params)
  t.same(sent.slice(0, 3), [{}, { items: 3 }, { total: '5' }])
  t.match(sent[3], { name: 'TypeError', message: 'outer', stack: /calls\.test/ })
})
