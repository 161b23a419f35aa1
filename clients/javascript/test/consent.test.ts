import t from 'tap'
import { createHost } from './host.ts'

t.test('of optIn and optOut at once the later call counts', async (t) => {
  for (const isOut of [true, false]) {
    const host = createHost()
    const client = host.start()
    await host.time.advance(100)
    const calls = isOut ? [client.optIn(), client.optOut()] : [client.optOut(), client.optIn()]
    await Promise.all(calls)
    client.log('tap')
    await host.time.advance(60_000)
    const next = host.start()
    next.log('tap')
    await host.time.advance(60_000)
    t.equal(client.stats().isOptedOut, isOut)
    t.equal(next.stats().isOptedOut, isOut, 'also after a restart')
    t.equal(host.server.rows.size, isOut ? 0 : 2)
  }
})

t.test('feedback that is being stored when the user opts out is never sent', async (t) => {
  const host = createHost()
  const client = host.start()
  await host.time.advance(10)
  const { set } = host.storage
  host.storage.set = async (key, value) => {
    if (key.startsWith('feedback-'))
      await new Promise<void>((resolve) => host.time.setTimeout(resolve, 200))
    await set(key, value)
  }
  const receipt = client.feedback({ text: 'My address is …' })
  await host.time.advance(50)
  await client.optOut()
  await host.time.advance(60_000)
  t.match(await receipt, { isKept: false })
  t.equal(host.server.requests.length, 0)
  t.same(await host.storage.list(), ['opted-out'])
  t.same(client.stats().dropped, {})
})
