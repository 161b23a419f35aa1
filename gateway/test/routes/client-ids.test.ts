import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createIdentity } from '@intake/identity'
import { batch, copies, send } from '../batches.ts'
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

t.test('a UUIDv7 is the id of the record, in lower case, with both operations', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.reserve = new IntakeError('keys_full', 'nothing may be reserved')
  const { id, time } = createIdentity(Date.now() - 3 * day)
  t.match((await sendLog(gateway, { id: id.toUpperCase() })).json(), { id })
  const two = await sendBatch(gateway, [{ event: 'screen_view', id }])
  t.match(two.json(), { results: [{ status: 'accepted', id }] })
  t.same(keys(gateway.rows('logs')), [
    [id, time],
    [id, time],
  ])
})

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

t.test('a UUID of another version is reserved, in any case, with both operations', async (t) => {
  const gateway = await startGateway(t)
  const { id } = (await sendLog(gateway, { id: uuidV4 })).json()
  t.not(id, uuidV4)
  const [name, other] = ['screen_view', { event: 'other', id: uuidV4 }]
  for (const printed of [uuidV4, uuidV4.toUpperCase()]) {
    const entry = { event: name, id: printed, timestamp: '2026-11-20T10:00:00Z', retry: 2 }
    const { results } = (await sendBatch(gateway, [entry])).json()
    t.same(results, [{ status: 'accepted', id }], 'an entry may be a retry of a single event')
    const keyed = await sendLog(gateway, {}, { 'idempotency-key': printed })
    t.match(keyed.json(), { id }, 'and the reverse')
  }
  const reused = { code: 'idempotency_key_reused' }
  t.match((await sendLog(gateway, other)).json(), { status: 422, ...reused })
  t.match((await sendBatch(gateway, [other])).json(), { accepted: 0, results: [reused] })
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

t.test('422 for a key with a different id than before, alone and in a batch', async (t) => {
  const gateway = await startGateway(t)
  const v7 = () => createIdentity(Date.now()).id
  const event = { event: 'screen_view' }
  for (const [name, first, other] of [
    ['v7', v7(), v7()],
    ['v4', uuidV4, uuidV4.replace('6f', '7f')],
  ] as const) {
    gateway.frames.logs.length = 0
    const key = { 'idempotency-key': name }
    const reused = { status: 422, code: 'idempotency_key_reused' }
    for (const id of [first, first.toUpperCase()]) {
      t.equal((await sendLog(gateway, { id }, key)).statusCode, 201)
      t.match((await sendBatch(gateway, [{ ...event, id }], {}, key)).json(), { accepted: 1 })
    }
    t.match((await sendLog(gateway, { id: other }, key)).json(), reused)
    t.match((await sendBatch(gateway, [{ ...event, id: other }], {}, key)).json(), reused)
    t.equal(gateway.rows('logs').length, 4)
  }
})

t.test('a key that equals the id of its event is accepted', async (t) => {
  const gateway = await startGateway(t)
  for (const id of [createIdentity(Date.now()).id, uuidV4]) {
    const key = { 'idempotency-key': id }
    const one = (await sendLog(gateway, { id }, key)).json()
    t.same((await sendLog(gateway, { id }, key)).json(), one)
    t.same((await sendLog(gateway, {}, key)).json(), one)
    t.match((await sendBatch(gateway, [{ event: 'screen_view', id }], {}, key)).json(), {
      accepted: 1,
    })
  }
})

t.test('422 for a keyed batch whose timestamps changed, also with the nil UUID', async (t) => {
  for (const id of [undefined, '00000000-0000-0000-0000-000000000000']) {
    const gateway = await startGateway(t)
    const sendFrom = async (ageMs: number) => {
      const timestamp = new Date(Date.now() - ageMs).toISOString()
      const logs = [{ event: 'a', id, timestamp }]
      return (await sendBatch(gateway, logs, {}, { 'idempotency-key': 'k' })).json()
    }
    t.match(await sendFrom(5_000), { accepted: 1 })
    t.match(await sendFrom(4_000), { status: 422, code: 'idempotency_key_reused' })
  }
})

t.test('two applications of one device may use the same keys', async (t) => {
  const gateway = await startGateway(t)
  for (const bundle_identifier of ['com.one', 'com.two']) {
    const body = logBody({ event: bundle_identifier }, { bundle_identifier })
    const own = logBody({ event: bundle_identifier, id: uuidV4 }, { bundle_identifier })
    t.equal((await post(gateway, '/api/log', own)).statusCode, 201)
    const keyed = await post(gateway, '/api/log', body, { 'idempotency-key': 'k' })
    t.equal(keyed.statusCode, 201)
  }
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
  const key = { 'idempotency-key': 'batch-7' }
  const edge = new Date(nowMs - 30 * day + 60_000).toISOString()
  const own = createIdentity(nowMs).id
  const logs = [
    { event: 'a', timestamp: edge },
    { event: '' },
    { event: 'b' },
    { event: 'c', id: own },
  ]
  const first = (await sendBatch(gateway, logs, {}, key)).json()
  nowMs += day
  t.same((await sendBatch(gateway, logs, {}, key)).json(), first)
  const ids = first.results.map(({ id }: { id?: string }) => id)
  t.match(ids[0], /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(ids[3], own)
  t.equal(new Set(ids).size, 4)
  const rows = keys(gateway.rows('logs'))
  t.same(rows.slice(3), rows.slice(0, 3))
  t.equal(rows[0]![1], edge)
  const other = await sendBatch(gateway, [{ event: 'x' }], {}, key)
  t.match(other.json(), { status: 422, code: 'idempotency_key_reused' })
})

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
  const { body } = await sendBatch(gateway, copies(500, {}))
  const { results, rejected } = JSON.parse(body)
  t.equal(rejected, 500)
  t.ok(body.length < 60_000, `${body.length} bytes`)
  const rejection = { status: 'rejected', code: 'invalid_request' }
  t.match(results[9], { ...rejection, detail: String, errors: [{ pointer: '/logs/9/event' }] })
  t.same(results[10], rejection)
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
  const found = gateway.frames.logs.map(({ rows }) => rows)
  t.same(found, [250, 250])
})
