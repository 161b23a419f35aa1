import { hash } from 'node:crypto'
import t from 'tap'
import {
  newId,
  png,
  readRecords,
  sendBatch,
  sendFeedback,
  sendLog,
  startSandbox,
} from './support.ts'

t.test('201: a log event is shown as the row that it would be', async (t) => {
  const sandbox = await startSandbox(t)
  const id = newId()
  const { status } = await sendLog(sandbox, { id, params: { n: 1, big: 2 ** 53 } })
  t.equal(status, 201)
  t.match(await readRecords(sandbox), [
    {
      kind: 'log',
      id,
      times_accepted: 1,
      event: 'tap',
      params: { n: 1, big: 2 ** 53 },
      bundle_identifier: 'com.example.app',
      unique_user_id: 'user-1',
      device: { os: 'Android' },
      api_key_id: 'key_sandbox',
    },
  ])
})

t.test('201: a feedback is shown with size and hash of its pictures', async (t) => {
  const sandbox = await startSandbox(t)
  const id = newId()
  await sendFeedback(sandbox, { id, text: 'It broke.' }, [new Blob([png], { type: 'image/png' })])
  t.match(await readRecords(sandbox), [
    {
      kind: 'feedback',
      feedback_id: id,
      text: 'It broke.',
      attachments: [{ content_type: 'image/png', bytes: png.length, sha256: hash('sha256', png) }],
    },
  ])
})

t.test('the same id twice is one record, with the content that came first', async (t) => {
  const sandbox = await startSandbox(t)
  const id = newId()
  await sendLog(sandbox, { id, params: { n: 1 } })
  await sendLog(sandbox, { id, params: { n: 2 } })
  await sendFeedback(sandbox, { id, text: 'It broke.' })
  await sendFeedback(sandbox, { id, text: 'It broke.' })
  const records = await readRecords(sandbox)
  t.match(records, [
    { kind: 'log', params: { n: 1 }, times_accepted: 2 },
    { kind: 'feedback', times_accepted: 2 },
  ])
  t.equal(records.length, 2)
})

t.test('422: an Idempotency-Key is remembered, as by the gateway', async (t) => {
  const sandbox = await startSandbox(t)
  const key = { 'idempotency-key': 'order-17' }
  const first = await sendLog(sandbox, { params: { n: 1 } }, key)
  const repeat = await sendLog(sandbox, { params: { n: 1 } }, key)
  t.equal(repeat.body['id'], first.body['id'])
  const other = await sendLog(sandbox, { params: { n: 2 } }, key)
  t.match(other, { status: 422, body: { code: 'idempotency_key_reused' } })
})

t.test('207: a batch is checked entry by entry', async (t) => {
  const sandbox = await startSandbox(t)
  const { status, body } = await sendBatch(sandbox, [{}, { event: '' }])
  t.match({ status, ...body }, { status: 207, accepted: 1, rejected: 1 })
  t.equal(sandbox.records().length, 1)
})

t.test('401: only the key of the sandbox is accepted', async (t) => {
  const sandbox = await startSandbox(t)
  const { status } = await sendLog(sandbox, {}, { 'x-api-key': 'another' })
  t.equal(status, 401)
})

t.test('204: DELETE empties records, keys and faults, and sets the clock right', async (t) => {
  const sandbox = await startSandbox(t)
  const key = { 'idempotency-key': 'order-17' }
  await sendLog(sandbox, { params: { n: 1 } }, key)
  sandbox.addFault({ status: 503 })
  sandbox.addFault({ clockOffsetMs: -86_400_000 })
  const { status } = await fetch(`${sandbox.url}/_sandbox`, { method: 'DELETE' })
  t.equal(status, 204)
  t.same(sandbox.records(), [])
  t.equal((await sendLog(sandbox, { id: newId(), params: { n: 2 } }, key)).status, 201)
})

t.test('200: reading with min waits for that many records', async (t) => {
  const sandbox = await startSandbox(t)
  const waiting = readRecords(sandbox, '?min=2&timeoutMs=25000')
  await sendLog(sandbox)
  await sendLog(sandbox)
  t.equal((await waiting).length, 2)
  t.same(await readRecords(sandbox, '?min=3&timeoutMs=1'), await readRecords(sandbox))
})

t.test('400: a query that the sandbox does not know is refused', async (t) => {
  const sandbox = await startSandbox(t)
  for (const query of ['limit=3', 'min=many', 'min=-1', 'timeoutMs=60000']) {
    const response = await fetch(`${sandbox.url}/_sandbox/records?${query}`)
    t.equal(response.status, 400, query)
  }
})

t.test('404 and 405: other paths and methods are refused with what there is', async (t) => {
  const sandbox = await startSandbox(t)
  const lost = await fetch(`${sandbox.url}/_sandbox/record`)
  t.equal(lost.status, 404)
  t.match(await lost.json(), { detail: /_sandbox\/records/ })
  const posted = await fetch(`${sandbox.url}/_sandbox/records`, { method: 'POST' })
  t.equal(posted.status, 405)
  t.equal(posted.headers.get('allow'), 'GET')
})

t.test('a page of another origin may send and read Retry-After', async (t) => {
  const sandbox = await startSandbox(t)
  const preflight = await fetch(`${sandbox.url}/api/log`, {
    method: 'OPTIONS',
    headers: { 'access-control-request-headers': 'content-type, x-api-key' },
  })
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('access-control-allow-origin'), '*')
  t.match(preflight.headers.get('access-control-allow-headers'), /\bx-api-key\b/)
  const control = await fetch(`${sandbox.url}/_sandbox`, { method: 'OPTIONS' })
  t.equal(control.headers.get('access-control-allow-methods'), 'GET, POST, DELETE')
  const { headers } = await sendLog(sandbox, {}, { origin: 'http://localhost:5173' })
  t.equal(headers.get('access-control-allow-origin'), '*')
  t.match(headers.get('access-control-expose-headers'), /^Retry-After, Date, /)
})
