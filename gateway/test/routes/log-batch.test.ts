import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { IntakeError, limits } from '@intake/contract'
import { logBody, post, sendLog, startGateway } from '../support.ts'
import { batch, send, url } from '../batches.ts'

const identityOf = ({ id, time }: Record<string, unknown>) => ({ id, time })

t.test('207: every entry becomes a row with the sender, its own id and its time', async (t) => {
  const gateway = await startGateway(t)
  const logs = [
    { event: 'opened', params: { n: 1 }, timestamp: '2026-11-20T23:00:00.5+02:00', future: 1 },
    { event: 'closed', params: null, id: null, timestamp: null },
  ]
  const response = await send(gateway, batch(logs, { device: { os: 'iOS', theme: 'dark' } }))
  t.equal(response.statusCode, 207)
  const rows = gateway.rows('logs')
  t.match(response.json(), {
    message: 'Logs processed',
    accepted: 2,
    rejected: 0,
    results: rows.map(({ id }) => ({ status: 'accepted', id })),
  })
  t.match(rows, [
    {
      event: 'opened',
      params: { n: 1 },
      client_timestamp: '2026-11-20T21:00:00.500Z',
      extra: { log: { future: 1 } },
    },
    { event: 'closed', params: {} },
  ])
  t.notOk('client_timestamp' in rows[1]!)
  for (const row of rows) {
    t.match(row, {
      bundle_identifier: 'com.example.app',
      unique_user_id: 'user-1',
      api_key_id: 'key_1',
      device: { os: 'iOS' },
      device_extra: { theme: 'dark' },
      received_at: String,
    })
  }
  t.equal(gateway.frames.logs.length, 1, 'one frame')
})

t.test('207: a timestamp that is none costs no entry, and is kept', async (t) => {
  const gateway = await startGateway(t)
  // The first three timestamps come from devices with a Buddhist calendar, with Arabic digits, and
  // with a wrong clock. The last one is no timestamp.
  const sent = ['2569-11-21T06:30:00Z', '٢٠٢٦-١١-٢١T06:30:00Z', '1969-12-31T19:00:00-05:00', '']
  const logs = sent.map((timestamp) => ({ event: 'e', timestamp, level: 'warn' }))
  const response = await send(gateway, batch(logs))
  t.match(response.json(), { accepted: sent.length, rejected: 0 })
  const rows = gateway.rows('logs')
  t.same(
    rows.map(({ extra }) => extra),
    sent.map((timestamp) => ({ log: { level: 'warn', timestamp } })),
  )
  for (const row of rows) t.notOk('client_timestamp' in row)
})

t.test('207: a bad entry is rejected with its pointers, the others are stored', async (t) => {
  const gateway = await startGateway(t)
  const deep = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) as object
  const payload = JSON.stringify(
    batch([
      { event: 'good' },
      'SUBMITTED',
      { event: '', id: 'SUBMITTED' },
      { event: 'deep', params: deep },
      { event: 'number', params: { n: 70707 } },
      { event: 'late', timestamp: 1763706600250 },
      { event: 'good too' },
    ]),
  ).replace('70707', '1e999')
  const response = await send(gateway, payload)
  t.equal(response.statusCode, 207)
  const { accepted, rejected, results } = response.json()
  t.same([accepted, rejected], [2, 5])
  t.match(results, [
    { status: 'accepted' },
    { status: 'rejected', code: 'invalid_request', errors: [{ pointer: '/logs/1' }] },
    { errors: [{ pointer: '/logs/2/event' }, { pointer: '/logs/2/id' }] },
    { status: 'rejected', code: 'invalid_json' },
    { status: 'rejected', code: 'invalid_json' },
    { errors: [{ pointer: '/logs/5/timestamp' }] },
    { status: 'accepted' },
  ])
  t.notMatch(response.body, 'SUBMITTED')
  t.same(
    gateway.rows('logs').map(({ event }) => event),
    ['good', 'good too'],
  )
})

t.test('400 when the sender is wrong, or there are no entries or too many', async (t) => {
  const gateway = await startGateway(t)
  const cases: [object, string][] = [
    [batch([{ event: 'e' }], { device_uuid: 'nope' }), '/device_uuid'],
    [batch([]), '/logs'],
    [batch(Array.from({ length: 501 }, () => ({ event: 'e' }))), '/logs'],
    [logBody(), '/logs'],
  ]
  for (const [payload, pointer] of cases) {
    const response = await send(gateway, payload)
    t.match(response.json(), { status: 400, code: 'invalid_request', errors: [{ pointer }] })
  }
  const nested = JSON.parse(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`) as object
  const tooDeep = await send(gateway, batch([{ event: 'e' }], { device: { nested } }))
  t.match(tooDeep.json(), { status: 400, code: 'invalid_json' })
  t.equal(gateway.frames.logs.length, 0)
})

t.test(
  '207 for repetitive batches: 500 events, also identical ones, and many params',
  async (t) => {
    const gateway = await startGateway(t)
    const params = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, `value ${n}`]))
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, n]))
    const stack = 'at com.example.Screen.open(Screen.java:12)\n'.repeat(150)
    const shapes: (() => object)[] = [
      () => ({ event: 'e', params }),
      () => ({ event: 'e', id: randomUUID(), timestamp: new Date().toISOString(), params: many }),
      () => ({ event: 'e', id: randomUUID(), params: { stack } }),
    ]
    for (const make of shapes) {
      const payload = gzipSync(JSON.stringify(batch(Array.from({ length: 500 }, make))), {
        level: 9,
      })
      const response = await post(gateway, url, payload, { 'content-encoding': 'gzip' })
      t.match(response.json(), { accepted: 500 })
    }
  },
)

t.test(
  '207: only the entry with too many params or too large an integer is rejected',
  async (t) => {
    const gateway = await startGateway(t)
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, n]))
    const logs = [{ event: 'many', params: many }, { event: 'LARGE' }, { event: 'EXACT' }]
    const payload = JSON.stringify(batch(logs))
      .replace('"LARGE"', '"large","params":{"SENT":18446744073709551617}')
      .replace('"EXACT"', '"exact","params":{"max":18446744073709551615}')
    const response = await send(gateway, payload)
    t.match(response.json().results, [
      { status: 'rejected', code: 'body_too_large' },
      { status: 'rejected', code: 'invalid_request', errors: [{ pointer: '/logs/1/params' }] },
      { status: 'accepted' },
    ])
    t.notMatch(response.body, 'SENT')
  },
)

t.test('413 for more members and elements than a batch may have', async (t) => {
  const { app } = await startGateway(t)
  const logs = Array.from({ length: 500 }, () => ({
    event: 'e',
    params: { list: Array(120).fill(0) },
  }))
  const response = await post({ app }, url, batch(logs))
  t.match(response.json(), { status: 413, code: 'body_too_large' })
})

t.test('the largest batch is accepted', async (t) => {
  const gateway = await startGateway(t)
  const response = await send(
    gateway,
    batch(Array.from({ length: 500 }, (_, n) => ({ event: 'e', params: { n } }))),
  )
  t.equal(response.json().accepted, 500)
  t.equal(new Set(gateway.rows('logs').map(({ id }) => id)).size, 500)
})

t.test('403 for a bundle identifier that the key is not for, 401 without a key', async (t) => {
  const gateway = await startGateway(t, { key: { bundleIdentifiers: ['com.other'] } })
  t.match((await send(gateway, batch([{ event: 'e' }]))).json(), { code: 'bundle_not_allowed' })
  t.match((await send(gateway, batch([]), { 'x-api-key': 'no' })).json(), { code: 'unauthorized' })
})

t.test('the id of an entry makes retries safe; different content is rejected', async (t) => {
  const gateway = await startGateway(t)
  const id = randomUUID()
  const [one] = (await send(gateway, batch([{ event: 'a', id }]))).json().results
  const again = (await send(gateway, batch([{ event: 'b' }, { event: 'a', id }]))).json()
  t.equal(again.results[1].id, one.id)
  const other = (await send(gateway, batch([{ event: 'other', id }]))).json()
  t.match(other, { accepted: 0, results: [{ code: 'idempotency_key_reused' }] })
})

t.test('an Idempotency-Key makes retries of the whole batch safe', async (t) => {
  const gateway = await startGateway(t)
  const key = { 'idempotency-key': 'batch-7' }
  const logs = [{ event: 'a' }, { event: '' }, { event: 'c' }]
  const first = await send(gateway, batch(logs), key)
  const second = await send(gateway, batch(logs), key)
  t.same(second.json(), first.json())
  const rows = gateway.rows('logs')
  t.same(rows.slice(2).map(identityOf), rows.slice(0, 2).map(identityOf))
  const ids = first.json().results.map((one: { id?: string }) => one.id)
  t.match(ids[0], /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.not(ids[0], ids[2])
  const other = await send(gateway, batch([{ event: 'x' }]), key)
  t.match(other.json(), { status: 422, code: 'idempotency_key_reused' })
})

t.test('503 for the whole batch when a frame is not stored', async (t) => {
  const gateway = await startGateway(t)
  for (const code of ['queue_unavailable', 'outcome_unknown'] as const) {
    gateway.fail.enqueue = new IntakeError(code, 'The queue is down.')
    const response = await send(gateway, batch([{ event: 'a' }, { event: 'b' }]))
    t.match(response.json(), { status: 503, code })
  }
})

t.test('503 outcome_unknown when some frames are stored and others are not', async (t) => {
  const gateway = await startGateway(t)
  const text = 'x'.repeat(600_000)
  gateway.fail.enqueueAfter = {
    frames: 1,
    error: new IntakeError('queue_unavailable', 'The queue is down.'),
  }
  const logs = [1, 2, 3].map((n) => ({ event: 'large', params: { n, text } }))
  const response = await send(gateway, batch(logs))
  t.match(response.json(), { status: 503, code: 'outcome_unknown' })
  t.equal(gateway.frames.logs.length, 1)
})

t.test('an entry larger than the limit of a single event is rejected', async (t) => {
  const gateway = await startGateway(t)
  const logs = [
    { event: 'large', params: { text: 'x'.repeat(limits.logBytes) } },
    { event: 'large in bytes', params: { text: '語'.repeat(limits.logBytes / 2) } },
    { event: 'small' },
  ]
  const response = await send(gateway, batch(logs))
  const rejected = { status: 'rejected', code: 'body_too_large' }
  t.match(response.json(), { results: [rejected, rejected, { status: 'accepted' }] })
})

t.test('an entry may be a retry of a single event, and the reverse', async (t) => {
  const gateway = await startGateway(t)
  const id = randomUUID()
  const single = async (key: string) => {
    const response = await sendLog(gateway, logBody({ event: 'e', params: {} }), {
      'idempotency-key': key,
    })
    return response.json().id
  }
  const first = await single(id.toUpperCase())
  for (const printed of [id, id.toUpperCase()]) {
    const entry = { event: 'e', id: printed, timestamp: '2026-11-20T10:00:00Z', retry: 2 }
    const { results } = (await send(gateway, batch([entry]))).json()
    t.same(results, [{ status: 'accepted', id: first }])
    t.equal(await single(printed), first)
  }
})

t.test('the key of a batch may equal the id of its entry', async (t) => {
  const gateway = await startGateway(t)
  const id = randomUUID()
  const response = await send(gateway, batch([{ event: 'e', id }]), { 'idempotency-key': id })
  t.equal(response.json().accepted, 1)
})

t.test('a keyed batch with an extremely nested entry also gets a result per entry', async (t) => {
  const gateway = await startGateway(t)
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const payload = JSON.stringify(batch([{ event: 'a' }, { event: 'DEEP' }])).replace('"DEEP"', deep)
  const response = await send(gateway, payload, { 'idempotency-key': 'k' })
  t.match(response.json(), { results: [{ status: 'accepted' }, { code: 'invalid_json' }] })
})

t.test('rejected entries are logged with their request, without their content', async (t) => {
  const gateway = await startGateway(t)
  const logs = [{ event: 'good' }, { event: '', id: 'SUBMITTED' }, 'SUBMITTED']
  await send(gateway, batch(logs, { unique_user_id: 'SUBMITTED' }))
  const [row] = gateway.rows('logs')
  await gateway.app.close()
  const lines = gateway.log.filter((line) => line.includes('batch entries rejected'))
  t.match(
    lines.map((line) => JSON.parse(line) as object),
    [{ requestId: row!['request_id'], apiKeyId: 'key_1', codes: { invalid_request: 2 } }],
  )
  t.notMatch(gateway.log.join(''), 'SUBMITTED')
})
