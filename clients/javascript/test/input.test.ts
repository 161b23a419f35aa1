import t from 'tap'
import { textBytes } from '../src/core/text-bytes.ts'
import { answerOf, offline } from './fake-intake.ts'
import { createHost } from './host.ts'

t.test('a property of the device that JSON cannot represent is left out', async (t) => {
  const cycle: Record<string, unknown> = {}
  cycle['itself'] = cycle
  for (const device of [null, { big: 1n, cycle, run: () => 1, known: 1 }]) {
    const host = createHost()
    const client = host.start({ device: device as never })
    client.log('tap')
    await client.stored()
    await host.time.advance(6000)
    const [row] = host.server.rows.values()
    t.same(row!.batch.device, device ? { os: 'Test', known: 1 } : { os: 'Test' })
  }
})

t.test('a user that is a number is printed; any other value is no user', async (t) => {
  const host = createHost()
  const client = host.start({ userId: 42 as never })
  client.log('number')
  client.identify({} as never)
  client.log('object')
  await host.time.advance(10_000)
  const users = host.server.batches.map(({ unique_user_id: user }) => user)
  t.equal(users[0], '42')
  t.match(users[1], /^bd9c40f6/)
})

t.test('a device that cannot be read in time keeps what was found before', async (t) => {
  const host = createHost()
  let isSlow = false
  const client = host.start(
    {},
    {
      device: () =>
        new Promise((resolve) =>
          host.time.setTimeout(() => resolve({ os: 'Android' }), isSlow ? 600 : 1),
        ),
    },
  )
  for (const event of ['a', 'b', 'c']) {
    client.log(event)
    await host.time.advance(7000)
    isSlow = true
  }
  for (const { batch } of host.server.rows.values()) t.same(batch.device, { os: 'Android' })
  t.equal(host.server.rows.size, 3)
})

t.test('of any number of feedbacks at once 20 are kept', async (t) => {
  const host = createHost()
  host.server.transport = offline
  const client = host.start()
  const all = Array.from({ length: 40 }, (_, n) =>
    client.feedback({ text: `${n}`, attachments: [1, 2, 3, 4, 5, 6] }),
  )
  await host.time.advance(1000)
  const receipts = await Promise.all(all)
  t.equal(receipts.filter(({ isKept }) => isKept).length, 20)
  t.equal(client.stats().pending.feedback, 20)
  t.same(client.stats().dropped, { feedback_full: 20, too_many_attachments: 40 })
})

t.test('feedback that the gateway would refuse is refused at once', async (t) => {
  const host = createHost()
  const client = host.start()
  const long = client.feedback({ text: 'x'.repeat(20_001) })
  const noEmail = client.feedback({ text: '😀'.repeat(20_000), email: null as never })
  await host.time.advance(1000)
  t.match(await long, { isKept: false, reason: 'invalid_feedback' })
  t.match(await noEmail, { isKept: true })
  t.match(JSON.parse(host.server.feedback[0]!.payload), { feedback: { email: '' } })
})

t.test('no request is larger than what the gateway reads, in any script', async (t) => {
  const host = createHost()
  const client = host.start()
  for (const length of [49_000, 49_990, 95_000]) client.log('long', { text: '你'.repeat(length) })
  await host.time.advance(10_000)
  const events = host.server.events()
  t.equal(events.filter((event) => event === 'long').length, 2)
  t.same(client.stats().dropped, { too_large: 1 })
  for (const { body } of host.server.requests) t.ok(textBytes(body as string) < 200_000)
})

t.test('a code that is a number is that of a proxy, so nothing is stopped', async (t) => {
  const host = createHost()
  host.server.faults.push({ status: 403, body: '{"code":403,"message":"Forbidden"}' })
  const client = host.start()
  client.log('tap')
  await host.time.advance(10_000)
  t.equal(host.server.rows.size, 1)
  t.match(client.stats(), { stopped: false, lastError: { status: 403, code: 'http_403' } })
})

t.test('what a proxy refuses is tried three times, and again after the next start', async (t) => {
  const host = createHost()
  const { transport } = host.server
  host.server.transport = async (request) =>
    JSON.stringify(request.body).includes('poison') ? answerOf(421, '<html>') : transport(request)
  const client = host.start({ batchEntriesMax: 1 })
  client.log('poison')
  client.log('tap')
  await client.feedback({ text: 'poison' })
  await host.time.advance(3_600_000)
  t.same(host.server.events(), ['tap'])
  t.match(client.stats(), { pending: { logs: 1, feedback: 1 }, dropped: {} })
  host.server.transport = transport
  host.start()
  await host.time.advance(10_000)
  t.same(host.server.events(), ['tap', 'poison'])
  t.equal(host.server.feedback.length, 1)
})
