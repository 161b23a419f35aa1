import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { IntakeError, limits } from '@intake/contract'
import { logBody, post, startGateway } from '../support.ts'
import { batch, copies, send, url } from '../batches.ts'

t.test('207: every entry becomes a row with the sender, its own id and its time', async (t) => {
  const gateway = await startGateway(t)
  // Of the month of the other entry: a frame is of one month.
  const now = Date.now()
  const timestamp = new Date(now + 7_200_000).toISOString().replace('Z', '+02:00')
  const logs = [
    { event: 'opened', params: { n: 1 }, timestamp, future: 1 },
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
      client_timestamp: new Date(now).toISOString(),
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
  const extras = rows.map(({ extra }) => extra)
  t.same(
    extras,
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
  const events = gateway.rows('logs').map(({ event }) => event)
  t.same(events, ['good', 'good too'])
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

t.test('207 for repetitive batches: 500 events, also identical ones, many params', async (t) => {
  const gateway = await startGateway(t)
  const members = (count: number, value: (n: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, value(n)]))
  const params = members(20, (n) => `value ${n}`)
  const many = members(100, (n) => n)
  const stack = 'at com.example.Screen.open(Screen.java:12)\n'.repeat(150)
  for (const make of [
    () => ({ event: 'e', params }),
    () => ({ event: 'e', id: randomUUID(), timestamp: new Date(), params: many }),
    () => ({ event: 'e', id: randomUUID(), params: { stack } }),
  ]) {
    gateway.frames.logs.length = 0
    const json = JSON.stringify(batch(Array.from({ length: 500 }, make)))
    const payload = gzipSync(json, { level: 9 })
    const response = await post(gateway, url, payload, { 'content-encoding': 'gzip' })
    t.match(response.json(), { accepted: 500 })
    t.equal(new Set(gateway.rows('logs').map(({ id }) => id)).size, 500)
  }
})

t.test('207: only an entry that is too large, or its integer, is rejected', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.reserve = new IntakeError('keys_full', 'the key of a rejected entry is not reserved')
  const params = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, n]))
  const payload = JSON.stringify(
    batch([{ event: 'many', params }, { event: 'LARGE' }, { event: 'EXACT' }]),
  )
    .replace('"LARGE"', '"large","params":{"SENT":18446744073709551617}')
    .replace('"EXACT"', '"exact","params":{"max":18446744073709551615}')
  const response = await send(gateway, payload)
  const rejected = { status: 'rejected', code: 'body_too_large' }
  t.match(response.json().results, [
    rejected,
    { status: 'rejected', code: 'invalid_request', errors: [{ pointer: '/logs/1' }] },
    { status: 'accepted' },
  ])
  t.notMatch(response.body, 'SENT')
  const large = ['x'.repeat(limits.logBytes), '語'.repeat(limits.logBytes / 2)].map((text) => ({
    event: 'e',
    id: randomUUID(),
    params: { text },
  }))
  const { results } = (await send(gateway, batch([...large, { event: 'small' }]))).json()
  t.match(results, [rejected, rejected, { status: 'accepted' }])
})

t.test('413 for more members and elements than a batch may have', async (t) => {
  const logs = copies(500, { event: 'e', params: { list: copies(120, 0) } })
  const response = await send(await startGateway(t), batch(logs))
  t.match(response.json(), { status: 413, code: 'body_too_large' })
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
    [{ requestId: row!['request_id'], apiKeyId: 'key_1', code: 'invalid_request', count: 2 }],
  )
  t.notMatch(gateway.log.join(''), 'SUBMITTED')
})
