import t from 'tap'
import { dayMs } from '../src/core/limits.ts'
import { timeOfUuid } from '../src/core/uuid.ts'
import { offline } from './fake-intake.ts'
import { createHost, serverStart } from './host.ts'

t.test('a clock that someone sets ahead by weeks deletes nothing', async (t) => {
  const host = createHost()
  const send = host.server.transport
  host.server.transport = offline
  const first = host.start({ batchEntriesMax: 4 })
  for (let n = 0; n < 10; n++) first.log('tap', { n })
  await host.time.advance(10_000)
  host.server.transport = send
  host.ahead = 40 * dayMs
  const next = host.start()
  await host.time.advance(60_000)
  t.equal(host.server.rows.size, 10)
  t.same(next.stats().dropped, {})
  for (const id of host.server.rows.keys()) t.equal(timeOfUuid(id), serverStart)
})

t.test('what the gateway finds too old is dropped as expired', async (t) => {
  const host = createHost()
  const send = host.server.transport
  host.server.transport = offline
  const client = host.start()
  client.log('tap')
  await host.time.advance(31 * dayMs)
  host.server.transport = send
  await host.time.advance(dayMs)
  t.equal(host.server.rows.size, 0)
  t.same(client.stats().dropped, { expired: 1 })
})

t.test('only answers of Intake set the clock', async (t) => {
  const host = createHost()
  const client = host.start()
  const date = 'Thu, 01 Jan 1970 00:10:00 GMT'
  host.server.faults.push(
    { status: 502, body: '<html>', date },
    { status: 200, body: '<html>', date },
    { status: 503, body: '{"code":502}', date },
    { status: 207, body: '{}', date },
  )
  client.log('before')
  for (let n = 0; n < 4; n++) {
    await host.time.advance(n === 0 ? 6000 : 30_000)
    t.equal(client.stats().clockOffsetMs, 0)
  }
})

t.test('an answer during which the clock was set does not set it', async (t) => {
  const host = createHost()
  const send = host.server.transport
  host.server.transport = async (request) => {
    const answer = await send(request)
    host.ahead = -3 * dayMs
    return answer
  }
  const client = host.start()
  client.log('tap')
  await host.time.advance(5000)
  t.equal(client.stats().clockOffsetMs, 0)
})
