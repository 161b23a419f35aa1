import t from 'tap'
import type { SeenRequest } from '../src/index.ts'
import {
  addFault,
  newId,
  readRecords,
  sendBatch,
  sendFeedback,
  sendLog,
  startSandbox,
} from './support.ts'

t.test('503: a status is the answer so many times, and nothing is stored', async (t) => {
  const sandbox = await startSandbox(t)
  t.match(await addFault(sandbox, { status: 503, times: 2 }), {
    status: 201,
    body: { faults: [{ status: 503, times: 2 }] },
  })
  for (let time = 0; time < 2; time++) {
    const { status, headers, body } = await sendLog(sandbox)
    t.match({ status, body }, { status: 503, body: { code: 'busy', status: 503 } })
    t.equal(headers.get('retry-after'), '1')
  }
  t.same(sandbox.records(), [])
  t.equal((await sendLog(sandbox)).status, 201)
})

t.test('429: Retry-After and code are chosen', async (t) => {
  const sandbox = await startSandbox(t)
  await addFault(sandbox, { status: 429, retryAfter: 7 })
  t.equal((await sendLog(sandbox)).headers.get('retry-after'), '7')
  await addFault(sandbox, { status: 503, code: 'quota_of_tomorrow', retryAfter: 'soon' })
  const { headers, body } = await sendLog(sandbox)
  t.equal(body['code'], 'quota_of_tomorrow')
  t.equal(headers.get('retry-after'), 'soon')
})

t.test('502: a status that is not Intake’s comes with the page of a proxy', async (t) => {
  const sandbox = await startSandbox(t)
  for (const status of [502, 504, 200, 499, 520]) {
    await addFault(sandbox, { status })
    const answer = await sendLog(sandbox)
    t.equal(answer.status, status)
    t.equal(answer.headers.get('content-type'), 'text/html')
    t.equal(answer.headers.get('retry-after'), null)
  }
})

t.test('503: with store, the record is stored although the answer says otherwise', async (t) => {
  const sandbox = await startSandbox(t)
  await addFault(sandbox, { status: 503, code: 'outcome_unknown', store: true })
  t.match(await sendLog(sandbox), { status: 503, body: { code: 'outcome_unknown' } })
  t.equal(sandbox.records().length, 1)
})

t.test('a reset connection: nothing is stored', async (t) => {
  const sandbox = await startSandbox(t)
  await addFault(sandbox, { resetAfterBytes: 0 })
  await t.rejects(sendLog(sandbox))
  await addFault(sandbox, { resetAfterBytes: 100_000 })
  await t.rejects(sendBatch(sandbox, [{ params: { text: 'x'.repeat(200_000) } }]))
  t.same(sandbox.records(), [])
})

t.test('207: chosen entries of a batch are rejected with a code, and not stored', async (t) => {
  const sandbox = await startSandbox(t)
  await addFault(sandbox, { rejectEntries: { code: 'quota_of_tomorrow', indexes: [0, 2] } })
  t.equal((await sendLog(sandbox)).status, 201, 'a single event has no entries')
  const ids = [newId(), newId(), newId()]
  const { status, body } = await sendBatch(
    sandbox,
    ids.map((id) => ({ id })),
  )
  t.match({ status, ...body }, { status: 207, accepted: 1, rejected: 2 })
  t.match(body['results'], [
    { status: 'rejected', code: 'quota_of_tomorrow' },
    { status: 'accepted', id: ids[1] },
    { status: 'rejected', code: 'quota_of_tomorrow' },
  ])
  t.same(
    sandbox
      .records()
      .filter(({ id }) => ids.includes(id))
      .map(({ id }) => id),
    [ids[1]],
  )
})

t.test('a repeat of a record is not lost when its second acceptance is taken back', async (t) => {
  const sandbox = await startSandbox(t)
  const id = newId()
  await sendLog(sandbox, { id })
  await addFault(sandbox, { rejectEntries: { code: 'quota_of_tomorrow' } })
  await sendBatch(sandbox, [{ id }])
  t.match(await readRecords(sandbox), [{ id, times_accepted: 1 }])
})

t.test(
  '422: a clock that is three days behind refuses ids of now, and says its time',
  async (t) => {
    const sandbox = await startSandbox(t)
    const behind = 3 * 86_400_000
    await addFault(sandbox, { clockOffsetMs: -behind })
    const { status, headers, body } = await sendLog(sandbox, { id: newId() })
    t.match({ status, body }, { status: 422, body: { code: 'id_time_out_of_range' } })
    for (const time of [String(body['server_time']), headers.get('date') ?? '']) {
      const off = Date.now() - Date.parse(time)
      t.ok(off >= behind && off < behind + 600_000, time)
    }
    await addFault(sandbox, { clockOffsetMs: 0 })
    t.equal((await sendLog(sandbox, { id: newId() })).status, 201)
  },
)

t.test('a delay holds the answer back, and ends when the sender has gone', async (t) => {
  const seen: SeenRequest[] = []
  let wake = () => {}
  const sandbox = await startSandbox(t, {
    onRequest(request) {
      if (!seen.includes(request)) seen.push(request)
      wake()
    },
  })
  const untilSeen = async (condition: () => boolean) => {
    while (!condition()) await new Promise<void>((resolve) => (wake = resolve))
  }
  await addFault(sandbox, { delayMs: 50 })
  const start = performance.now()
  t.equal((await sendLog(sandbox)).status, 201)
  t.ok(performance.now() - start >= 49)

  await addFault(sandbox, { delayMs: 25_000, loseResponse: true })
  const aborted = new AbortController()
  const sending = sendLog(sandbox, {}, {}, aborted.signal)
  sending.catch(() => undefined)
  await untilSeen(() => seen[1]?.decided !== undefined)
  aborted.abort()
  await t.rejects(sending)
  await untilSeen(() => seen[1]?.endedAt !== undefined)
  t.equal(seen[1]?.status, undefined, 'nothing was sent')
})

t.test('faults apply to a path, to each n-th request, and in their order', async (t) => {
  const sandbox = await startSandbox(t)
  await addFault(sandbox, { status: 503, path: '/api/feedback' })
  await addFault(sandbox, { status: 429, every: 2, times: 2 })
  const statuses = []
  for (let n = 0; n < 5; n++) statuses.push((await sendLog(sandbox)).status)
  t.same(statuses, [201, 429, 201, 429, 201])
  t.equal((await sendFeedback(sandbox, { text: 'It broke.' })).status, 503)
  t.equal((await sendFeedback(sandbox, { text: 'It broke.' })).status, 201)
  t.same(sandbox.faults(), [])
})

t.test('400: a field or a value that does not exist is called so', async (t) => {
  const sandbox = await startSandbox(t)
  const { body } = await addFault(sandbox, { status: 503, wat: 1, path: '/api/logs' })
  t.same(body['errors'], [
    { pointer: '/wat', detail: 'unknown field' },
    { pointer: '/path', detail: 'is not one of the possible values' },
  ])
})

const wrong: [string, unknown, string][] = [
  ['a field that does not exist', { status: 503, tims: 2 }, '/tims'],
  ['no effect', { times: 2 }, ''],
  ['two effects', { status: 503, loseResponse: true }, '/status'],
  ['a status of one digit', { status: 5 }, '/status'],
  ['a code without a status', { loseResponse: true, code: 'busy' }, '/code'],
  ['no repetition', { status: 503, times: 0 }, '/times'],
  ['a path that is none of Intake', { status: 503, path: '/api/other' }, '/path'],
  ['entries of a feedback', { rejectEntries: { code: 'x' }, path: '/api/feedback' }, '/path'],
  ['a clock for a while', { clockOffsetMs: 5, times: 2 }, '/clockOffsetMs'],
  ['an effect that is switched off', { loseResponse: false }, '/loseResponse'],
  ['no object', [], ''],
]

for (const [what, fault, pointer] of wrong) {
  t.test(`400: ${what} is refused with a pointer`, async (t) => {
    const sandbox = await startSandbox(t)
    const { status, body } = await addFault(sandbox, fault)
    t.match({ status, body }, { status: 400, body: { code: 'invalid_request' } })
    const pointers = (body['errors'] as { pointer: string }[]).map((one) => one.pointer)
    t.ok(pointers.includes(pointer), pointers.join(' '))
    t.same(sandbox.faults(), [])
  })
}

t.test('400 and 413: a fault is a small JSON document', async (t) => {
  const { url } = await startSandbox(t)
  const send = (body: string) => fetch(`${url}/_sandbox/faults`, { method: 'POST', body })
  t.equal((await send('{')).status, 400)
  t.equal((await send(JSON.stringify({ code: 'x'.repeat(70_000) }))).status, 413)
})
