import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { runClosedLoop } from '../load/closed-loop.ts'

let next = 0
const freshId = () => `00000000-0000-7000-8000-${String(next++).padStart(12, '0')}`

function response(status: number, body: object, headers: string[] = []): string {
  const json = JSON.stringify(body)
  const lines = [`HTTP/1.1 ${status} x`, ...headers, `content-length: ${json.length}`]
  return `${lines.join('\r\n')}\r\n\r\n${json}`
}

/** One connection at a time; `respond` gets the request and its number. */
async function serve(t: Test, respond: (request: string, index: number) => string) {
  let index = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => socket.write(respond(bytes.toString(), index++)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return (options: { repeatEvery?: number; retryRefusals?: boolean; requestsMax: number }) =>
    runClosedLoop(
      {
        loop: 'closed',
        ports: [port],
        connections: 1,
        seconds: 60,
        keepAckTimes: false,
        ...options,
      },
      { at: (request) => Buffer.from(`request ${request}`), eventsPerRequest: 1 },
    )
}

t.test('every tenth request is sent twice, and its event counts once', async (t) => {
  const seen: string[] = []
  const idOf = new Map<string, string>()
  const run = await serve(t, (request) => {
    seen.push(request)
    const id = idOf.get(request) ?? freshId()
    idOf.set(request, id)
    return response(207, { id })
  })
  const result = await run({ repeatEvery: 10, requestsMax: 30 })
  t.match(result, { requests: 33, repeats: 3, failures: {}, acknowledged: { count: 30 } })
  const twice = seen.filter((request, index) => seen.indexOf(request) !== index)
  t.same(twice, ['request 9', 'request 19', 'request 29'])
})

t.test('a repeat that gets another id is a failure', async (t) => {
  const run = await serve(t, () => response(201, { id: freshId() }))
  const result = await run({ repeatEvery: 2, requestsMax: 2 })
  t.same(result.failures, { 'a repeat got 201 after 201': 1 })
  t.equal(result.repeats, 0)
})

t.test('the same bytes are sent again after a temporary refusal', async (t) => {
  const codes = ['queue_full', 'busy', 'queue_unavailable', 'outcome_unknown']
  const seen: string[] = []
  const run = await serve(t, (request, index) => {
    seen.push(request)
    const code = codes[index]
    if (code === undefined) return response(201, { id: freshId() })
    return response(503, { code }, ['Retry-After: 0'])
  })
  const result = await run({ retryRefusals: true, requestsMax: 2 })
  t.same(seen, [...Array<string>(5).fill('request 0'), 'request 1'])
  t.match(result, {
    refusals: { queue_full: 1, busy: 1, queue_unavailable: 1, outcome_unknown: 1 },
    failures: {},
    acknowledged: { count: 2 },
  })
})

t.test('any other refusal is a failure', async (t) => {
  const run = await serve(t, () => response(503, { code: 'keys_full' }, ['Retry-After: 0']))
  const result = await run({ retryRefusals: true, requestsMax: 1 })
  t.same([result.refusals, result.failures], [{}, { '503 keys_full': 1 }])
})

t.test('every refusal is a failure for a client that does not retry', async (t) => {
  const run = await serve(t, () => response(503, { code: 'queue_full' }, ['Retry-After: 0']))
  const result = await run({ requestsMax: 1 })
  t.same(result.failures, { '503 queue_full': 1 })
})
