import t from 'tap'
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
