import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createIdentity } from '@intake/identity'
import { batch, send } from '../batches.ts'
import { logBody, post, startGateway, type TestGateway } from '../support.ts'

const day = 24 * 60 * 60_000
const instantMs = Date.parse('2026-11-21T06:30:00.000Z')
/** The distance of the time in an id, or of a timestamp, from `instantMs`. */
const believed = [0, 10 * 60_000, -30 * day]
const notBelieved = [10 * 60_000 + 1, -30 * day - 1, 3650 * day]
const uuidV4 = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'

const sendLog = (gateway: TestGateway, log: object, more = {}) =>
  post(gateway, '/api/log', logBody(log), more)
const sendBatch = (gateway: TestGateway, logs: object[], rest = {}, more = {}) =>
  send(gateway, batch(logs, rest), more)
const keys = (rows: Record<string, unknown>[]) => rows.map(({ id, time }) => [id, time])

t.test(
  'a UUIDv7 of the client is the id of the record, in lower case, with both operations',
  async (t) => {
    const gateway = await startGateway(t)
    gateway.fail.reserve = new IntakeError('keys_full', 'nothing may be reserved')
    const { id, time } = createIdentity(Date.now() - 3 * day)
    const one = await sendLog(gateway, { id: id.toUpperCase() })
    t.match(one.json(), { id })
    const two = await sendBatch(gateway, [{ event: 'screen_view', id }])
    t.match(two.json(), { results: [{ status: 'accepted', id }] })
    t.same(keys(gateway.rows('logs')), [
      [id, time],
      [id, time],
    ])
  },
)

t.test('422 id_time_out_of_range with server_time, and nothing is stored', async (t) => {
  const gateway = await startGateway(t, { wallMs: () => instantMs })
  const refused = { code: 'id_time_out_of_range', server_time: new Date(instantMs).toISOString() }
  for (const off of notBelieved) {
    const { id } = createIdentity(instantMs + off)
    t.match((await sendLog(gateway, { id })).json(), { status: 422, ...refused })
    const { results } = (await sendBatch(gateway, [{ event: 'e', id }, { event: 'f' }])).json()
    t.match(results, [{ status: 'rejected', ...refused }, { status: 'accepted' }])
  }
  t.equal(gateway.rows('logs').length, notBelieved.length)
  for (const off of believed) {
    const { id } = createIdentity(instantMs + off)
    t.match((await sendLog(gateway, { id })).json(), { id })
  }
})

t.test('the timestamp of an event is its time, unless it is out of range', async (t) => {
  const gateway = await startGateway(t, { wallMs: () => instantMs })
  for (const off of [...believed, ...notBelieved]) {
    const timestamp = new Date(instantMs + off).toISOString()
    await sendLog(gateway, { timestamp })
    await sendBatch(gateway, [{ event: 'e', timestamp }])
    const time = believed.includes(off) ? timestamp : new Date(instantMs).toISOString()
    const stored = { time, client_timestamp: timestamp }
    t.match(gateway.rows('logs').slice(-2), [stored, stored], `${off} ms`)
  }
})

t.test('201: an unusable id or timestamp is kept as an unknown field of the log', async (t) => {
  const gateway = await startGateway(t)
  await sendLog(gateway, { id: 17, timestamp: 'yesterday', level: 'warn' })
  const [row] = gateway.rows('logs')
  t.same(row?.['extra'], { log: { id: 17, timestamp: 'yesterday', level: 'warn' } })
  t.notOk('client_timestamp' in row!)
})

t.test('unknown fields are kept at their path', async (t) => {
  const gateway = await startGateway(t)
  await post(gateway, '/api/log', logBody({ foo: 1 }, { foo: { bar: [2] }, null: null }))
  await sendBatch(gateway, [{ event: 'a' }, { event: 'b', foo: 2 }], { foo: 3, log: 'x' })
  t.same(
    gateway.rows('logs').map(({ extra }) => extra),
    [
      { foo: { bar: [2] }, null: null, log: { foo: 1 } },
      { foo: 3, log: 'x' },
      { foo: 3, log: '["x",{"foo":2}]' },
    ],
  )
})

t.test('a UUID of another version is reserved, with both operations', async (t) => {
  const gateway = await startGateway(t)
  const { id } = (await sendLog(gateway, { id: uuidV4 })).json()
  t.not(id, uuidV4)
  const [result] = (await sendBatch(gateway, [{ event: 'screen_view', id: uuidV4 }])).json().results
  t.equal(result.id, id)
  const other = await sendLog(gateway, { id: uuidV4, event: 'other' })
  t.match(other.json(), { status: 422, code: 'idempotency_key_reused' })
})

t.test('a key sent with a UUIDv7 is reserved for that id', async (t) => {
  const gateway = await startGateway(t)
  const key = { 'idempotency-key': 'k' }
  const { id } = createIdentity(Date.now())
  t.match((await sendLog(gateway, { id }, key)).json(), { id })
  t.match((await sendLog(gateway, {}, key)).json(), { id })
  const other = await sendLog(gateway, { id, event: 'other' }, key)
  t.match(other.json(), { status: 422, code: 'idempotency_key_reused' })
})

t.test(
  '422 for a key with a different id than before, alone and in a batch: nothing is stored',
  async (t) => {
    const gateway = await startGateway(t)
    const v7 = () => createIdentity(Date.now()).id
    const event = { event: 'screen_view' }
    for (const [name, ids] of [
      ['v7', [v7(), v7()]],
      ['v4', [uuidV4, uuidV4.replace('6f', '7f')]],
    ] as const) {
      const stored = gateway.rows('logs').length
      const [first, other] = ids
      const key = { 'idempotency-key': name }
      const reused = { status: 422, code: 'idempotency_key_reused' }
      for (const id of [first, first.toUpperCase()]) {
        t.equal((await sendLog(gateway, { id }, key)).statusCode, 201)
        t.match((await sendBatch(gateway, [{ ...event, id }], {}, key)).json(), { accepted: 1 })
      }
      t.match((await sendLog(gateway, { id: other }, key)).json(), reused)
      t.match((await sendBatch(gateway, [{ ...event, id: other }], {}, key)).json(), reused)
      t.equal(gateway.rows('logs').length, stored + 4)
    }
  },
)

t.test('a key that equals the id of its event is accepted', async (t) => {
  const gateway = await startGateway(t)
  for (const id of [createIdentity(Date.now()).id, uuidV4]) {
    const key = { 'idempotency-key': id }
    const one = (await sendLog(gateway, { id }, key)).json()
    t.same((await sendLog(gateway, { id }, key)).json(), one)
    t.same((await sendLog(gateway, {}, key)).json(), one)
  }
})

t.test('422 for a keyed batch with the nil UUID whose timestamps changed', async (t) => {
  const gateway = await startGateway(t)
  const at = (off: number) => ({
    event: 'a',
    id: '00000000-0000-0000-0000-000000000000',
    timestamp: new Date(Date.now() - off).toISOString(),
  })
  await sendBatch(gateway, [at(5_000)], {}, { 'idempotency-key': 'k' })
  const other = await sendBatch(gateway, [at(4_000)], {}, { 'idempotency-key': 'k' })
  t.match(other.json(), { status: 422, code: 'idempotency_key_reused' })
})

t.test('two applications of one device may use the same keys', async (t) => {
  const gateway = await startGateway(t)
  const results = await Promise.all(
    ['com.one', 'com.two'].flatMap((bundle_identifier) => [
      post(
        gateway,
        '/api/log',
        logBody({ event: bundle_identifier, id: uuidV4 }, { bundle_identifier }),
      ),
      post(gateway, '/api/log', logBody({ event: bundle_identifier }, { bundle_identifier }), {
        'idempotency-key': 'k',
      }),
    ]),
  )
  for (const { statusCode } of results) t.equal(statusCode, 201)
})

t.test('an id twice in a batch: the same event is accepted twice and stored once', async (t) => {
  const gateway = await startGateway(t)
  for (const id of [createIdentity(Date.now()).id, uuidV4]) {
    const response = await sendBatch(gateway, [
      { event: 'a', params: { x: 1, y: 2 }, id },
      { event: 'a', params: { y: 2, x: 1 }, id: id.toUpperCase() },
      { event: 'b', id },
    ])
    const [one, two, three] = response.json().results
    t.match(response.json(), { accepted: 2, rejected: 1 })
    t.same(two, one)
    t.match(three, { status: 'rejected', code: 'duplicate_id' })
  }
  t.equal(gateway.rows('logs').length, 2)
})

t.test('a keyed batch keeps its identities while the clock advances', async (t) => {
  let nowMs = Date.now()
  const gateway = await startGateway(t, { wallMs: () => nowMs })
  const key = { 'idempotency-key': 'k' }
  const edge = new Date(nowMs - 30 * day + 60_000).toISOString()
  const own = createIdentity(nowMs).id
  const logs = [{ event: 'a', timestamp: edge }, { event: 'b' }, { event: 'c', id: own }]
  const first = (await sendBatch(gateway, logs, {}, key)).json()
  nowMs += day
  const second = (await sendBatch(gateway, logs, {}, key)).json()
  t.same(second, first)
  t.equal(first.results[2].id, own)
  const rows = keys(gateway.rows('logs'))
  t.same(rows.slice(3), rows.slice(0, 3))
  t.equal(rows[0]![1], edge)
})

t.test(
  '422 for a keyed batch whose timestamps changed: they are part of its identities',
  async (t) => {
    const gateway = await startGateway(t)
    const key = { 'idempotency-key': 'k' }
    const at = (off: number) => ({
      event: 'a',
      timestamp: new Date(Date.now() - off).toISOString(),
    })
    await sendBatch(gateway, [at(5_000)], {}, key)
    const other = await sendBatch(gateway, [at(4_000)], {}, key)
    t.match(other.json(), { status: 422, code: 'idempotency_key_reused' })
  },
)

t.test('503 keys_full: nothing of the batch is enqueued; without a key, 201', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.reserve = new IntakeError('keys_full', 'There is no room.')
  const both = await sendBatch(gateway, [{ event: 'a' }, { event: 'b', id: uuidV4 }])
  t.match(both.json(), { status: 503, code: 'keys_full' })
  t.ok(Number(both.headers['retry-after']) >= 60)
  t.match((await sendLog(gateway, {}, { 'idempotency-key': 'k' })).json(), { code: 'keys_full' })
  t.equal(gateway.frames.logs.length, 0)
  t.equal((await sendLog(gateway, {})).statusCode, 201)
})

t.test('207: 500 bad entries are rejected in 60 KB, the first ten with the reason', async (t) => {
  const gateway = await startGateway(t)
  const response = await sendBatch(
    gateway,
    Array.from({ length: 500 }, () => ({})),
  )
  const { results, rejected } = response.json()
  t.equal(rejected, 500)
  t.ok(response.body.length < 60_000, `${response.body.length} bytes`)
  t.match(results[9], {
    code: 'invalid_request',
    detail: String,
    errors: [{ pointer: '/logs/9/event' }],
  })
  t.same(results[10], { status: 'rejected', code: 'invalid_request' })
})

t.test('rows of two months never share a frame, in any order', async (t) => {
  const nowMs = Date.parse('2026-11-10T00:00:00Z')
  const gateway = await startGateway(t, { wallMs: () => nowMs })
  const months = [nowMs - 29 * day, nowMs]
  const logs = Array.from({ length: 500 }, (_, n) => ({
    event: 'e',
    id: createIdentity(months[n % 2]!).id,
  }))
  await sendBatch(gateway, logs)
  t.same(
    gateway.frames.logs.map(({ rows }) => rows),
    [250, 250],
  )
})
