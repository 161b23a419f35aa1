import { randomUUID } from 'node:crypto'
import t from 'tap'
import { batch, send as sendBatch } from '../batches.ts'
import { payload, send as sendForm } from '../forms.ts'
import { logBody, sendKeyed, startGateway } from '../support.ts'

t.test('201 with the same identity for the same key and payload', async (t) => {
  const gateway = await startGateway(t)
  const send = () => sendKeyed(gateway, logBody(), 'a-key')
  const [first, second] = [await send(), await send()]
  t.equal(first.status, 201)
  t.same(second, first)
  const [one, two] = gateway.rows('logs')
  t.same([two?.['id'], two?.['time']], [one?.['id'], one?.['time']])
})

t.test('201 with the same id although the battery level has changed', async (t) => {
  const gateway = await startGateway(t)
  const send = async (battery_level: number) =>
    (await sendKeyed(gateway, logBody({}, { device: { battery_level } }), 'a-key')).body.id
  t.equal(await send(80), await send(79))
})

t.test('201 with the same id although the order of names in params changed', async (t) => {
  const gateway = await startGateway(t)
  const send = async (params: object) =>
    (await sendKeyed(gateway, logBody({ params }), 'a-key')).body
  const first = await send({ screen: 'home', cart: { items: [1, 2], total: 3 } })
  t.match(first, { id: String })
  t.same(await send({ cart: { total: 3, items: [1, 2] }, screen: 'home' }), first)
  const reordered = await send({ cart: { total: 3, items: [2, 1] }, screen: 'home' })
  t.match(reordered, { code: 'idempotency_key_reused' })
})

t.test('201 with the same id for contents that are stored alike', async (t) => {
  const gateway = await startGateway(t)
  const id = randomUUID()
  const send = async (text: string) => {
    const names = { bundle_identifier: `com.example${text}`, unique_user_id: `user${text}` }
    const params = { [`name${text}`]: [text, { inner: text }] }
    const entry = { event: `event${text}`, params }
    const sent = await sendKeyed(gateway, logBody(entry, names), 'one')
    const entries = batch([entry, { ...entry, id }], names)
    const batched = await sendBatch(gateway, entries, { 'idempotency-key': 'many' })
    const form = await sendForm(gateway, [payload({ text: `text${text}` }, names)], {
      'idempotency-key': 'form',
    })
    return [sent.body, batched.json<object>(), form.body]
  }
  const first = await send('\ud800')
  t.match(first, [{ id: String }, { accepted: 2 }, { id: String }])
  for (const text of ['\ufffd', '\udc00']) t.same(await send(text), first)
  const kinds = ['logs', 'feedback'] as const
  const rows = kinds.flatMap((kind) => gateway.rows(kind))
  t.equal(rows.length, 12)
  const identities = new Set(rows.map(({ time, ...row }) => `${String(time)} ${String(row['id'])}`))
  t.equal(identities.size, 4)
})

t.test('422 for a key with contents that differ, also if both have lone surrogates', async (t) => {
  const gateway = await startGateway(t)
  const body = JSON.stringify(logBody({ params: { text: '\ud800', large: 0 } }))
  const send = async (large: string) =>
    (await sendKeyed(gateway, body.replace('"large":0', `"large":${large}`), 'a-key')).status
  t.equal(await send('9007199254740993'), 201)
  t.equal(await send('9007199254740993'), 201)
  t.equal(await send('9007199254740992'), 422)
})

t.test('422 for the same key with a different payload, 400 for an invalid key', async (t) => {
  const gateway = await startGateway(t)
  for (const [key, event, status, code] of [
    ['a-key', 'one', 201, undefined],
    ['a-key', 'two', 422, 'idempotency_key_reused'],
    ['x'.repeat(256), 'one', 400, 'invalid_request'],
    ['', 'one', 400, 'invalid_request'],
  ] as const) {
    const response = await sendKeyed(gateway, logBody({ event }), key)
    t.same([response.status, response.body.code], [status, code])
  }
  t.equal(gateway.frames.logs.length, 1)
})
