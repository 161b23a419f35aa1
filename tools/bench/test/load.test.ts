import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { runClosedLoop } from '../load/closed-loop.ts'
import { runOpenLoop } from '../load/open-loop.ts'

const requests = { at: () => Buffer.from('x'), eventsPerRequest: 1 }
let next = 0
const answer = () => {
  const body = JSON.stringify({ id: `00000000-0000-7000-8000-${String(next++).padStart(12, '0')}` })
  return `HTTP/1.1 201 Created\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Responds to each write of a client after `delayMs()`. */
async function serve(t: Test, delayMs: () => number): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => setTimeout(() => socket.write(answer()), delayMs()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('a closed loop sends the given number of requests and counts each response', async (t) => {
  const port = await serve(t, () => 0)
  const result = await runClosedLoop(
    {
      loop: 'closed',
      ports: [port],
      connections: 4,
      seconds: 120,
      requestsMax: 100,
      keepAckTimes: false,
    },
    requests,
  )
  t.match(result, { requests: 100, failures: {}, acknowledged: { count: 100, distinct: 100 } })
})

t.test('a response in several chunks is one response', async (t) => {
  const server = createServer((socket) => {
    socket.on('data', () => {
      const whole = answer()
      socket.write(whole.slice(0, 30))
      setTimeout(() => socket.write(whole.slice(30)), 5)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const result = await runClosedLoop(
    {
      loop: 'closed',
      ports: [port],
      connections: 1,
      seconds: 120,
      requestsMax: 3,
      keepAckTimes: false,
    },
    requests,
  )
  t.match(result, { failures: {}, acknowledged: { count: 3 } })
})

t.test(
  'in the open loop a stall adds to the latency of every request that was due meanwhile',
  async (t) => {
    // The only connection takes 10 ms per request, but 200 requests/s are due. So each request
    // waits for all earlier ones.
    const port = await serve(t, () => 10)
    const result = await runOpenLoop(
      { loop: 'open', ports: [port], rate: 200, seconds: 0.5, connections: 1, keepAckTimes: false },
      requests,
    )
    t.same(result.failures, {})
    t.ok(result.acknowledged.count > 50, `${result.acknowledged.count} requests`)
    t.ok(result.latencyMs.max > 100, `the last one waited ${result.latencyMs.max} ms`)
  },
)

t.test('a connection that closes on a request is a failure', async (t) => {
  const server = createServer((socket) => socket.on('data', () => socket.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const result = await runClosedLoop(
    { loop: 'closed', ports: [port], connections: 2, seconds: 5, keepAckTimes: false },
    requests,
  )
  t.equal(result.acknowledged.count, 0)
  t.equal(
    Object.values(result.failures).reduce((sum, times) => sum + times, 0),
    2,
  )
})
