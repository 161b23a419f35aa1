import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import type { WebhookReceiver } from '@intake/config'
import { createDeliverySink, feedbackWebhook } from '@intake/queue/consume'
import { createMetrics } from '@intake/runtime/process'
import { logTo } from '@intake/test-kit/log-to'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { serve } from '@intake/test-kit/serve'
import { until } from '@intake/test-kit/until'
import { startFeedbackWebhook } from '../../src/webhook/feedback-webhook.ts'
import { createReceivers } from '../../src/webhook/receivers.ts'
import { createWebhookMetrics } from '../../src/webhook/start-webhook.ts'
import { signatureOf } from '../../src/webhook/send-webhook.ts'

const redisServer = await ownRedis(t)

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const idOf = (n: number) => `019aaaaa-0000-7000-8000-${String(n).padStart(12, '0')}`

interface Received {
  headers: IncomingMessage['headers']
  body: string
}

/**
 * Starts a receiver that responds to each request with the next of `statuses`, and then with 204.
 *
 * @param options.silent the number of first requests that get no response
 */
async function startReceiver(t: Test, statuses: number[] = [], { silent = 0 } = {}) {
  const received: Received[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ headers: request.headers, body: await text(request) })
    if (received.length <= silent) return
    const status = statuses.shift() ?? 204
    response.writeHead(status, { location: '/elsewhere' }).end()
  }
  const server = await serve(t, (request, response) => void receive(request, response))
  return {
    url: `${server.url}/hook`,
    received,
    /** Ends the requests without a response. */
    end: server.closeAllConnections,
  }
}

async function start(
  t: Test,
  options: {
    receivers: Omit<WebhookReceiver, 'secret'>[]
    delaysMs?: number[]
    rows?: (id: string) => object[]
  },
) {
  const redis = openRedis(t, redisServer)
  await redis.flushall()
  const lines: string[] = []
  const failed: string[] = []
  const metrics = createMetrics()
  const queue = {
    ...feedbackWebhook,
    ...(options.delaysMs && { retryDelaysMs: options.delaysMs }),
  }
  const webhook = startFeedbackWebhook({
    receivers: createReceivers(options.receivers.map((row) => ({ ...row, secret }))),
    reader: {
      query: async <Row>(_sql: string, params: Record<string, unknown> = {}) => {
        const id = params['id'] as string
        const found = {
          id,
          time: '2026-11-21 03:00:00.123',
          received_at: '2026-11-21 03:00:01.000',
          device: '{"os":"Android","version_code":9007199254740993}',
          bundle_identifier: Number(id.slice(-12)) < 100 ? 'com.example.app' : 'com.other.app',
          device_uuid: '6f9619ff-8b86-4d01-b42d-00c04fc964ff',
          attachments: [],
          email: 'user@example.com',
        }
        return (options.rows?.(id) ?? [{ ...found, text: 'It broke' }]) as Row[]
      },
    },
    redis,
    count: createWebhookMetrics(metrics),
    log: logTo((line) => void lines.push(line)),
    onError: () => {},
    onFailed: (detail) => void failed.push(detail),
    queue,
  })
  const sink = createDeliverySink({ redis, queue, onError: () => {} })
  await redis.hset('{intake}:feedback-webhook:meta', 'wanted', 1)
  const announce = (ids: string[], sender = 'key_1') => sink.add(ids.map((id) => ({ id, sender })))
  t.teardown(async () => {
    await sink.close()
    await webhook.close()
  })
  return { webhook: { ...webhook, announce }, lines, failed, redis, metrics }
}

/** Checks the signatures. Returns the ids of the messages, in their order. */
function signedIds(t: Test, received: readonly Received[]): string[] {
  return received.map(({ headers, body }) => {
    const id = String(headers['webhook-id'])
    const timestamp = Number(headers['webhook-timestamp'])
    t.equal(headers['webhook-signature'], signatureOf({ secret, id, timestamp, body }))
    t.ok(Math.abs(timestamp - Date.now() / 1000) < 3_600)
    return id
  })
}

t.test('the signature is that of the Standard Webhooks specification', async (t) => {
  const signature = signatureOf({
    secret,
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  })
  t.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

t.test('each feedback is sent once, signed, however often it is announced', async (t) => {
  const { url, received } = await startReceiver(t)
  const { webhook } = await start(t, { receivers: [{ url }] })
  await webhook.announce([idOf(1), idOf(2)])
  await webhook.announce([idOf(2), idOf(1)])
  await until('both are delivered', () => received.length >= 2)
  await webhook.announce([idOf(1), idOf(3)])
  await until('the third is delivered', () => received.length >= 3)
  const ids = signedIds(t, received)
  t.same(ids.toSorted(), [idOf(1), idOf(2), idOf(3)])
  for (const [index, { body }] of received.entries())
    t.match(JSON.parse(body), {
      type: 'feedback.created',
      data: { id: ids[index], text: 'It broke' },
    })
})

t.test('a refusal is final, and neither a timeout nor a limit is one', async (t) => {
  for (const [status, requests] of [
    [400, 1],
    [404, 1],
    [410, 1],
    [408, 2],
    [429, 2],
    [302, 2],
    [500, 2],
  ] as const) {
    const { url, received } = await startReceiver(t, [status])
    const { webhook, lines, failed } = await start(t, { receivers: [{ url }], delaysMs: [1] })
    await webhook.announce([idOf(1)])
    await until('it is over', () => (requests === 1 ? failed.length > 0 : received.length === 2))
    // A later request shows that the refused one is not repeated.
    await webhook.announce([idOf(2)])
    await until('another is sent', () => received.length === requests + 1)
    t.same(failed, [requests === 1 ? 'a request was given up' : failed[0]], String(status))
    t.equal(lines.filter((line) => line.includes('given up')).length, 2 - requests)
    await webhook.close()
  }
})

t.test('a chat form is signed, repeated and queued like the standard one', async (t) => {
  const { url, received } = await startReceiver(t, [500])
  const { webhook } = await start(t, {
    receivers: [{ url, form: 'slack', token: 'a-token' }],
    delaysMs: [1],
  })
  await webhook.announce([idOf(1)])
  await webhook.announce([idOf(1)])
  await until('it is delivered', () => received.length >= 2)
  t.same(signedIds(t, received), [idOf(1), idOf(1)])
  for (const { headers, body } of received) {
    t.equal(headers.authorization, 'Bearer a-token')
    t.match(JSON.parse(body), {
      blocks: [{ text: { text: 'com.example.app (9007199254740993)' } }],
    })
    t.notMatch(body, 'user@example.com')
  }
})

t.test('after its last attempt it is given up, with a log line that names a page', async (t) => {
  const { url, received } = await startReceiver(t, [500, 500, 500])
  const { webhook, lines, metrics } = await start(t, { receivers: [{ url }], delaysMs: [1] })
  await webhook.announce([idOf(1)])
  await until('it is given up', () => lines.some((line) => line.includes('was given up')))
  t.equal(received.length, 2)
  const line = lines.find((one) => one.includes('was given up')) ?? ''
  t.match(JSON.parse(line), { id: idOf(1), attempt: 2, help: 'docs/operations/webhook-fails.md' })
  t.notMatch(line, url, 'its address may contain a secret')
  t.match(await metrics.metrics(), 'intake_webhook_requests_total{outcome="given_up"} 1')
})

t.test('a request without a response says why, also to whoever sent a test message', async (t) => {
  const { url } = await serve(t, (request) => void request.socket.destroy())
  const { webhook, lines, redis } = await start(t, { receivers: [{ url }], delaysMs: [] })
  await webhook.announce([idOf(1)])
  await until('it is given up', () => lines.some((line) => line.includes('was given up')))
  const reason = await redis.hget(`{intake}:feedback-webhook:${idOf(1)}.key_1`, 'failedReason')
  t.match(reason, /^the receiver did not respond: .*other side closed/)
})

t.test('a receiver that hangs delays neither new deliveries nor the close', async (t) => {
  const { url, received } = await startReceiver(t, [], { silent: 10 })
  const { webhook, redis, metrics } = await start(t, { receivers: [{ url }] })
  await webhook.announce(Array.from({ length: 6 }, (_, n) => idOf(n)))
  await until('it hangs', () => received.length === 2)
  await webhook.announce([idOf(7)])
  await webhook.close()
  const [waiting, delayed] = await Promise.all([
    redis.llen('{intake}:feedback-webhook:wait'),
    redis.zcard('{intake}:feedback-webhook:delayed'),
  ])
  t.equal(waiting + delayed, 7, 'all of them are kept')
  t.equal(await redis.hget(`{intake}:feedback-webhook:${idOf(0)}.key_1`, 'atm'), null)
  t.match(await metrics.metrics(), '{outcome="failed"} 0', 'closing is no attempt')
})

t.test('an erased feedback is not sent; one that is not visible yet is', async (t) => {
  const { url, received } = await startReceiver(t)
  const reads = new Map<string, number>()
  const { webhook, failed, metrics } = await start(t, {
    receivers: [{ url }],
    delaysMs: [1, 1, 1],
    rows(id) {
      const count = (reads.get(id) ?? 0) + 1
      reads.set(id, count)
      const isVisible = id === idOf(2) && count > 1
      return isVisible ? [{ id, time: '2026-11-21 03:00:00.123', received_at: '' }] : []
    },
  })
  await webhook.announce([idOf(1), idOf(2)])
  await until('both are done', async () => {
    const counts = await metrics.metrics()
    return /outcome="given_up"} 1/.test(counts) && /outcome="delivered"} 1/.test(counts)
  })
  t.same(signedIds(t, received), [idOf(2)])
  t.same(failed, ['a request was given up'], 'attempts before are no problem of the receiver')
})

t.test('ClickHouse that does not respond is no problem of the receiver', async (t) => {
  const { url, received } = await startReceiver(t)
  let isAway = true
  const { webhook, failed } = await start(t, {
    receivers: [{ url }],
    delaysMs: [1],
    rows(id) {
      if (!isAway) return [{ id, time: '2026-11-21 03:00:00.123', received_at: '' }]
      isAway = false
      throw new ClickHouseError('no response', { kind: 'retry' })
    },
  })
  await webhook.announce([idOf(1)])
  await until('it is delivered', () => received.length === 1)
  t.same(failed, [])
})

t.test('a receiver that hangs delays only itself, and one API key no other', async (t) => {
  const hanging = await startReceiver(t, [], { silent: 2 })
  const { url, received } = await startReceiver(t)
  const { webhook, metrics } = await start(t, {
    receivers: [{ bundle: 'com.other.*', url: hanging.url }, { url }],
    delaysMs: [1],
  })
  const others = Array.from({ length: 30 }, (_, n) => idOf(100 + n))
  await webhook.announce(others)
  await until('it hangs', () => hanging.received.length === 2)
  await webhook.announce([idOf(1), idOf(2)])
  await until('the other gets its requests', () => received.length === 2)
  t.equal(hanging.received.length, 2, 'it gets no more at once')
  await webhook.announce([idOf(130)], 'key_2')
  await until('it gets that of another key', () => hanging.received.length === 3)
  t.match(await metrics.metrics(), '{outcome="failed"} 0', 'to be postponed is no attempt')

  hanging.end()
  await until('it gets all', async () => /delivered"} 33/.test(await metrics.metrics()))
  const ids = signedIds(t, hanging.received)
  t.same(new Set(ids), new Set([...others, idOf(130)]))
  t.equal(ids.length, 33, 'the two that hung are repeated')
})

t.test('the first receiver of an application is told; without one, none is', async (t) => {
  const [first, second] = [await startReceiver(t), await startReceiver(t)]
  const { webhook, metrics } = await start(t, {
    receivers: [
      { bundle: 'com.example.*', url: first.url, email: 'hide' },
      { bundle: 'com.example.app', url: second.url },
    ],
  })
  await webhook.announce([idOf(1), idOf(100)])
  await until('both are done', async () => {
    const counts = await metrics.metrics()
    return /outcome="delivered"} 1/.test(counts) && /outcome="no_receiver"} 1/.test(counts)
  })
  t.equal(first.received.length, 1)
  t.match(JSON.parse(first.received[0]!.body), { data: { email: null } }, 'as its setting says')
  t.equal(second.received.length, 0)
})
