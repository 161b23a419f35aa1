import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { IntakeError } from '@intake/contract'
import { createIdentity } from '../../src/identity/identity.ts'
import { headers, logBody, startGateway, type TestGateway } from '../support.ts'

const expired = () => createIdentity(Date.now() - 31 * 24 * 60 * 60_000).id

function send({ app }: TestGateway, logs: object[], more: Record<string, string> = {}) {
  const { log: _, ...sender } = logBody()
  const payload = { ...sender, logs }
  return app.inject({
    method: 'POST',
    url: '/api/log/batch',
    headers: { ...headers, ...more },
    payload,
  })
}

/** What nobody handled until the end of the test: it would end the gateway. */
function unhandledRejections(t: Test): unknown[] {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  return unhandled
}

const params = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, `value ${n}`]))
const text = 'some "quoted" text '.repeat(45_000)

t.test('207: 500 large entries of which the first is rejected', async (t) => {
  const gateway = await startGateway(t)
  const unhandled = unhandledRejections(t)
  const entries = (length: number, more: object) =>
    Array.from({ length }, (_, n) => ({ event: `e${n}`, id: randomUUID(), ...more }))
  for (const rest of [entries(499, { params }), entries(4, { params: { text } })]) {
    const response = await send(gateway, [{ event: 'expired', id: expired() }, ...rest])
    t.match(response.json(), {
      accepted: rest.length,
      rejected: 1,
      results: [{ code: 'id_time_out_of_range' }, { status: 'accepted' }],
    })
  }
  t.equal(gateway.rows('logs').length, 503)
  t.same(unhandled, [])
})

t.test('503 for a large batch whose ids cannot be reserved', async (t) => {
  const gateway = await startGateway(t)
  const unhandled = unhandledRejections(t)
  gateway.fail.reserve = new IntakeError('keys_full', 'There is no room.')
  const logs = Array.from({ length: 500 }, () => ({ event: 'e', id: randomUUID(), params }))
  const response = await send(gateway, logs)
  t.match(response.json(), { status: 503, code: 'keys_full' })
  t.equal(gateway.frames.logs.length, 0)
  t.same(unhandled, [])
})

t.test('an entry that is too large is rejected before its id is reserved', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.reserve = new IntakeError('keys_full', 'There is no room.')
  const logs = [
    { event: 'large', id: randomUUID(), params: { text: text + text } },
    { event: 'small' },
  ]
  const response = await send(gateway, logs)
  t.match(response.json(), { results: [{ code: 'body_too_large' }, { status: 'accepted' }] })
})
