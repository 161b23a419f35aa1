import t from 'tap'
import { createHost } from './host.ts'

t.test('events of users who take turns need one request for each user', async (t) => {
  const host = createHost()
  const client = host.start()
  for (let n = 0; n < 300; n++) {
    client.identify(`user-${n % 3}`)
    client.log('tap', { n })
  }
  await client.stored()
  t.equal((await host.storage.list()).length, 3, 'and one segment each')
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 300)
  t.equal(host.server.requests.length, 3)
  for (const { params, batch } of host.server.rows.values())
    t.equal(batch.unique_user_id, `user-${Number(params['n']) % 3}`)
})

t.test('the end of a page sends the events of every user', async (t) => {
  const host = createHost()
  const client = host.start({}, { pageEndBytes: () => 60_000 })
  await host.time.advance(10)
  for (const user of ['a', 'b', 'a']) {
    client.identify(user)
    client.log('tap')
  }
  client.leavePage()
  await host.time.advance(0)
  t.equal(host.server.rows.size, 3)
  t.equal(host.server.requests.length, 2)
})

t.test('the end of a page sends only what fits into its request', async (t) => {
  const host = createHost()
  const client = host.start({}, { pageEndBytes: () => 2_000 })
  await host.time.advance(10)
  for (let n = 0; n < 50; n++) client.log('tap', { text: 'x'.repeat(100) })
  client.leavePage()
  await host.time.advance(0)
  t.equal(host.server.requests.length, 1)
  const [request] = host.server.requests
  const bytes = String(request!.body).length
  t.ok(bytes > 1_000 && bytes <= 2_000, `${bytes} bytes`)
  client.wake()
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 50)
})

t.test('a full batch is sent at once, so the end of a page sends the rest', async (t) => {
  const host = createHost()
  const client = host.start({}, { pageEndBytes: () => 60_000 })
  await host.time.advance(10)
  for (let n = 0; n < 50; n++) client.log('tap', { text: 'x'.repeat(1_000) })
  await host.time.advance(10)
  client.leavePage()
  await host.time.advance(0)
  t.equal(host.server.rows.size, 50)
})

t.test('an attempt waits for one write, not for those of all segments', async (t) => {
  const host = createHost()
  const { storage } = host
  const order: string[] = []
  const client = host.start(
    { batchEntriesMax: 1 },
    {
      storage: {
        ...storage,
        async append(...call) {
          order.push('append')
          await new Promise<void>((resolve) => host.time.setTimeout(resolve, 10))
          return storage.append(...call)
        },
        rename(from, to) {
          if (to.split('.')[2] === '3') order.push('attempt')
          return storage.rename(from, to)
        },
      },
    },
  )
  client.log('first')
  client.log('second')
  await host.time.advance(100)
  order.length = 0
  client.log('third')
  for (let n = 0; n < 50; n++) {
    client.identify(`user-${n}`)
    client.log('tap')
  }
  await host.time.advance(1)
  client.wake()
  await host.time.advance(10_000)
  const at = order.indexOf('attempt')
  t.ok(at >= 0 && at < 10, `after ${at} writes`)
  t.equal(host.server.rows.size, 53)
})
