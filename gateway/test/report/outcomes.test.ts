import t from 'tap'
import { IntakeError } from '@intake/contract'
import { batch, send } from '../batches.ts'
import { payload, send as sendForm } from '../forms.ts'
import { countsOf, logBody, sendLog, startGateway, type TestGateway } from '../support.ts'

/** Returns the counts so far, as lines `key kind code: records`. */
const counted = (gateway: TestGateway) =>
  countsOf(gateway, ({ apiKeyId, kind, code }) => `${apiKeyId} ${kind} ${code}`)

t.test('an accepted log counts in the minute of its received_at', async (t) => {
  const gateway = await startGateway(t)
  await sendLog(gateway)
  const [row] = gateway.rows('logs')
  const [report] = gateway.outcomes.unreported()
  const receivedAtMs = Date.parse(row!['received_at'] as string)
  t.same(counted(gateway), ['key_1 logs accepted: 1'])
  t.equal(report!.minuteMs, receivedAtMs - (receivedAtMs % 60_000))
})

t.test('each entry of a batch counts by its result, a repeat in the batch too', async (t) => {
  const gateway = await startGateway(t)
  const id = '0b000000-0000-4000-8000-000000000001'
  const logs = [{ event: 'a', id }, { event: 'a', id }, { event: 'b' }, { event: 1 }]
  const response = await send(gateway, batch(logs))
  t.match(response.json(), { accepted: 3, rejected: 1 })
  t.same(counted(gateway), ['key_1 logs accepted: 3', 'key_1 logs invalid_request: 1'])
})

t.test('503 for a batch that is not stored, which counts with all its entries', async (t) => {
  for (const code of ['queue_unavailable', 'outcome_unknown'] as const) {
    const gateway = await startGateway(t)
    gateway.fail.enqueue = new IntakeError(code, 'No response.')
    const response = await send(gateway, batch([{ event: 'a' }, { event: 'b' }, { event: 'c' }]))
    t.match(response.json(), { status: 503, code })
    t.same(counted(gateway), [`key_1 logs ${code}: 3`])
  }
})

t.test('refused requests count by code, without a key under none', async (t) => {
  const gateway = await startGateway(t)
  await sendLog(gateway, logBody(), { 'x-api-key': 'wrong' })
  await sendLog(gateway, logBody({ event: 1 }))
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'Down.')
  await sendLog(gateway)
  await gateway.app.inject({ method: 'GET', url: '/nothing' })
  await gateway.app.inject({ method: 'GET', url: '/api/feedback?x=/api/log' })
  // The router cannot parse this URL.
  await gateway.app.inject({ method: 'GET', url: '/%' })
  // The router reads this as `/api/log`.
  await gateway.app.inject({ method: 'POST', url: '/api/%6Cog' })
  t.same(counted(gateway).toSorted(), [
    '  malformed_http: 1',
    '  not_found: 1',
    ' feedback method_not_allowed: 1',
    ' logs unauthorized: 2',
    'key_1 logs invalid_request: 1',
    'key_1 logs queue_unavailable: 1',
  ])
})

t.test('an accepted feedback counts', async (t) => {
  const gateway = await startGateway(t)
  t.equal((await sendForm(gateway, [payload()])).status, 201)
  t.same(counted(gateway), ['key_1 feedback accepted: 1'])
})
