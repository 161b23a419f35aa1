import t from 'tap'
import { createHost } from './host.ts'

const minute = 60_000

t.test('a name of which some events are stored is not left out', async (t) => {
  const host = createHost()
  let arrived = 0
  host.server.leaveOut = () => (++arrived % 15 === 0 ? undefined : 'dropped')
  const client = host.start()
  for (let n = 0; n < 60; n++) {
    client.log('tap')
    await host.time.advance(10_000)
  }
  t.equal(arrived, 60)
})

t.test('a name is not left out for longer because the clock was set back', async (t) => {
  const host = createHost()
  let arrived = 0
  host.server.leaveOut = () => (arrived++, 'dropped')
  const client = host.start()
  for (let n = 0; n < 20; n++) client.log('tap')
  await host.time.advance(10_000)
  host.ahead = -60 * minute
  await host.time.advance(5 * minute)
  client.log('tap')
  await host.time.advance(10_000)
  t.equal(arrived, 21)
})
