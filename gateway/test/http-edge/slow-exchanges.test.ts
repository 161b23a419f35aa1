import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import {
  chunked,
  exchange,
  fastClock,
  formType,
  json,
  length,
  log,
  open,
  post,
  received,
  sendWithoutEnd,
} from '../raw-client.ts'
import { startGateway } from '../support.ts'

t.test('408 as a problem document when a body does not arrive, for every operation', async (t) => {
  const gateway = await startGateway(t, { clock: fastClock() })
  for (const [path, type] of [
    ['/api/log', json],
    ['/api/log/batch', json],
    ['/api/feedback', formType],
  ] as const) {
    for (const framing of [length(100000), chunked]) {
      const [head = '', problem = ''] = (
        await exchange(t, gateway, post(path, [type, framing]))
      ).split('\r\n\r\n')
      t.match(head, /^HTTP\/1\.1 408 [^]*connection: close/i, `${path}, ${framing}`)
      t.match(head, /ratelimit-remaining: \d/, 'counted before its body is read, as documented')
      t.match(JSON.parse(problem), { status: 408, code: 'request_timeout' })
    }
  }
  t.match(await gateway.metrics(), 'intake_requests_refused_total{code="request_timeout"} 6')
})

t.test('413 for a form that does not end', async (t) => {
  const gateway = await startGateway(t, {
    clock: fastClock(),
    env: { ATTACHMENT_BYTES_MAX: '1' },
    senders: { bodyBytesPerSecondMin: 1 },
  })
  const socket = await open(t, gateway)
  socket.write(post('/api/feedback', [formType, chunked, 'prefer: handling=lenient']))
  const part = '--b\r\ncontent-disposition: form-data; name="attachments"; filename="a"\r\n\r\n'
  socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
  const response = received(socket)
  sendWithoutEnd(socket, true)
  t.match(await response, /^HTTP\/1\.1 413 [^]*"body_too_large"/)
})

t.test('503 outcome_unknown and a closed connection when the response is late', async (t) => {
  const gateway = await startGateway(t, { clock: fastClock(), holdFrames: true })
  const [head = '', problem = ''] = (await exchange(t, gateway, log)).split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 503 [^]*connection: close/i)
  t.match(JSON.parse(problem), { code: 'outcome_unknown' })
  gateway.release()
})

for (const path of ['/openapi.json', '/docs']) {
  t.test(`a client that does not read ${path} is disconnected, and no other`, async (t) => {
    // The clock does not advance until the other sender, `innocent`, has its response.
    let [now, stepMs] = [0, 0]
    const clock = { now: () => (now += stepMs), intervalMs: 5 }
    const gateway = await startGateway(t, { clock })
    const { server } = gateway.app
    const opened = new Promise<Socket>((resolve) => server.once('connection', resolve))
    const client = await open(t, gateway)
    client.pause()
    const taken = await opened
    const ended = once(taken, 'close')
    while (taken.writableLength === 0) {
      const parsed = once(server, 'request')
      client.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
      await parsed
      await immediate()
    }
    const innocent = await open(t, gateway)
    innocent.write(log)
    t.match(await received(innocent, /"id"/), /^HTTP\/1\.1 201 /)
    innocent.destroy()
    stepMs = 1_000
    await ended
    t.match(await gateway.metrics(), 'intake_connections_ended_total{reason="unread"} 1')
  })
}

t.test('closing aborts the requests in progress, each with a response', async (t) => {
  const gateway = await startGateway(t, { clock: fastClock(), holdFrames: true })
  const [stored, coming] = [await open(t, gateway), await open(t, gateway)]
  stored.write(log)
  await until('the frame is enqueued', () => gateway.frames.logs.length > 0)
  const parsed = once(gateway.app.server, 'request')
  coming.write(post('/api/log', [json, length(100)]))
  await parsed
  const closed = gateway.app.close()
  t.match(await received(stored), /^HTTP\/1\.1 503 [^]*"outcome_unknown"/)
  t.match(await received(coming), /^HTTP\/1\.1 (503|408) /)
  gateway.release()
  await closed
})
