import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import type { Exchange } from '../../src/edge/exchange.ts'
import { judgeExchange, type Verdict } from '../../src/edge/judge-exchange.ts'

const limits = { bodyBytesPerSecondMin: 4_096, responseTimeoutMs: 30_000 }

function exchange() {
  const socket = { bytesRead: 0 }
  const request = { socket, complete: false, readableLength: 0, readableHighWaterMark: 16_384 }
  const response = { writableEnded: false, headersSent: false }
  const progress = {
    bytesRead: 0,
    bodyBytes: 0,
    bytesAhead: Infinity,
    processingMs: 0,
    unreadMs: 0,
  }
  const fake: Exchange = {
    request: request as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
    startedAt: 0,
    fail: undefined,
    failure: undefined,
    onEnd: [],
    bodyBytesMax: 50_000_000,
    progress,
  }
  /** Returns the first verdict other than `fine`, and the second of that verdict. */
  const pass = (seconds: number, bytesPerSecond: number): [number, Verdict] => {
    for (let second = 1; second <= seconds; second++) {
      socket.bytesRead += bytesPerSecond
      const verdict = judgeExchange(fake, 1_000, limits)
      if (verdict !== 'fine') return [second, verdict]
    }
    return [seconds, 'fine']
  }
  return { request, response, pass }
}

t.test('8 MB at 1.6 Mbit/s are accepted', async (t) => {
  t.same(exchange().pass(42, 200_000), [42, 'fine'])
})

t.test('the slowest allowed rate is accepted, a slower one is not', async (t) => {
  t.same(exchange().pass(3_600, 4_096), [3_600, 'fine'])
  t.same(exchange().pass(3_600, 4_000)[1], 'slow_body')
})

t.test('silence is too slow after ten seconds, a trickle a little later', async (t) => {
  t.same(exchange().pass(60, 0), [11, 'slow_body'])
  t.same(exchange().pass(60, 100), [11, 'slow_body'])
})

t.test('a burst allows ten seconds of silence and no more', async (t) => {
  const { pass } = exchange()
  t.same(pass(10, 1_000_000), [10, 'fine'])
  t.same(pass(60, 0), [11, 'slow_body'])
})

t.test('a body that does not end is eventually refused, however fast it is', async (t) => {
  t.same(exchange().pass(100_000, 10_000), [5_001, 'endless_body'])
  t.same(exchange().pass(60, 10_000_000), [6, 'endless_body'])
})

t.test('once the body is complete, the response timeout of the gateway applies', async (t) => {
  const { request, pass } = exchange()
  t.same(pass(9, 0), [9, 'fine'])
  request.complete = true
  t.same(pass(60, 0), [31, 'no_response'])
})

t.test('the client is not blamed while the gateway has stopped reading', async (t) => {
  const { request, pass } = exchange()
  t.same(pass(9, 4_096), [9, 'fine'])
  request.readableLength = request.readableHighWaterMark
  t.same(pass(60, 0), [31, 'no_response'])
})

t.test('a response must be read within ten seconds of its end', async (t) => {
  const { request, response, pass } = exchange()
  request.complete = true
  t.same(pass(25, 0), [25, 'fine'])
  response.headersSent = true
  response.writableEnded = true
  t.same(pass(60, 0), [11, 'unread'])
})
