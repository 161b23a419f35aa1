import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { request } from 'undici'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import { cluster } from './cluster.ts'

const gateway = cluster.gateways[0]!
const url = cluster.gatewayUrls[0]!

const send = async () => {
  const { statusCode, body } = await request(`${url}/api/log`, {
    method: 'POST',
    headers: { 'x-api-key': cluster.apiKey, 'content-type': 'application/json' },
    body: '{}',
  })
  await body.dump()
  return statusCode
}

/** The longest queue of new connections that the system allows; Infinity if that is not known. */
function systemMax(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return Infinity
  }
}

const count = 1_000
const skip = systemMax() <= count && 'the system does not allow such a queue'
t.test('a thousand new connections wait while the gateway is busy', { skip }, async (t) => {
  gateway.freeze()
  const sockets = Array.from({ length: count }, () =>
    connect({ host: '127.0.0.1', port: Number(new URL(url).port) }),
  )
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  // The connections wait in the system's queue, because the gateway is frozen. If the queue were
  // full, a client would try again after 1, 3 and 7 seconds.
  const signal = AbortSignal.timeout(60_000)
  await Promise.all(sockets.map((socket) => once(socket, 'connect', { signal })))
  gateway.thaw()
  t.equal(await send(), 400, 'they are accepted')
})

t.test('a gateway serves until a load balancer has noticed that it ends', async (t) => {
  const readiness = async () => (await request(`${url}/readyz`)).statusCode
  t.equal(await readiness(), 200)
  const ended = gateway.terminate()
  await until('it is not ready', async () => (await readiness()) === 503)
  t.equal(await send(), 400, 'it serves as usual')
  t.equal(await ended, 0)
  await t.rejects(send(), { code: 'ECONNREFUSED' })
})

t.test('a gateway opens its port when it is ready', async (t) => {
  const started = gateway.start()
  const first = await until('it responds', async () => (await request(`${url}/readyz`)).statusCode)
  t.equal(first, 200, 'no client gets 503 from it')
  await started
})
