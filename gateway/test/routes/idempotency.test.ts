import { randomUUID } from 'node:crypto'
import t from 'tap'
import { batch, send as sendBatch } from '../batches.ts'
import { payload, send as sendForm } from '../forms.ts'
import { headers, logBody, startGateway } from '../support.ts'

const url = '/api/log'

t.test('201 with the same identity for the same key and payload', async (t) => {
  const { app, rows } = await startGateway(t)
  const keyed = { ...headers, 'idempotency-key': 'a-key' }
  const send = () => app.inject({ method: 'POST', url, headers: keyed, payload: logBody() })
  const [first, second] = [await send(), await send()]
  t.equal(first.statusCode, 201)
  t.same(second.json(), first.json())
  const [one, two] = rows('logs')
  t.same([two?.['id'], two?.['time']], [one?.['id'], one?.['time']])
})

t.test('201 with the same id although the battery level has changed', async (t) => {
  const { app } = await startGateway(t)
  const send = async (battery_level: number) => {
    const response = await app.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'idempotency-key': 'a-key' },
      payload: logBody({}, { device: { battery_level } }),
    })
    return response.json<{ id: string }>()
  }
  t.equal((await send(80)).id, (await send(79)).id)
})

t.test('201 with the same id although the order of names in params changed', async (t) => {
  const { app } = await startGateway(t)
  const send = async (params: object) => {
    const response = await app.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'idempotency-key': 'a-key' },
      payload: logBody({ params }),
    })
    return response.json()
  }
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
    const sender = { bundle_identifier: `com.example${text}`, unique_user_id: `user${text}` }
    const params = { [`name${text}`]: [text, { inner: text }] }
    const entry = { event: `event${text}`, params }
    const sent = await gateway.app.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'idempotency-key': 'one' },
      payload: logBody(entry, sender),
    })
    const entries = batch([entry, { ...entry, id }], sender)
    const batched = await sendBatch(gateway, entries, { 'idempotency-key': 'many' })
    const form = await sendForm(gateway, [payload({ text: `text${text}` }, sender)], {
      'idempotency-key': 'form',
    })
    return [sent.json<object>(), batched.json<object>(), form.body]
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
  const { app } = await startGateway(t)
  const send = async (large: string) => {
    const keyed = { ...headers, 'idempotency-key': 'a-key' }
    const body = JSON.stringify(logBody({ params: { text: '\ud800', large: 0 } }))
    const response = await app.inject({
      method: 'POST',
      url,
      headers: keyed,
      payload: body.replace('"large":0', `"large":${large}`),
    })
    return response.statusCode
  }
  t.equal(await send('9007199254740993'), 201)
  t.equal(await send('9007199254740993'), 201)
  t.equal(await send('9007199254740992'), 422)
})

t.test('422 for the same key with a different payload, 400 for an invalid key', async (t) => {
  const { app, frames } = await startGateway(t)
  const send = (key: string, event: string) =>
    app.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'idempotency-key': key },
      payload: logBody({ event }),
    })
  t.equal((await send('a-key', 'one')).statusCode, 201)
  t.match((await send('a-key', 'two')).json(), { status: 422, code: 'idempotency_key_reused' })
  t.match((await send('x'.repeat(256), 'one')).json(), { status: 400, code: 'invalid_request' })
  t.match((await send('', 'one')).json(), { status: 400, code: 'invalid_request' })
  t.equal(frames.logs.length, 1)
})
