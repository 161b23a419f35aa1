import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import type { Connection, Exchange } from '../src/exchange.ts'
import { judgeExchange, type Judgement } from '../src/judge-exchange.ts'

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
    connection: {} as Connection,
    startedAt: 0,
    isOver: false,
    fail: undefined,
    failure: undefined,
    onEnd: undefined,
    bodyBytesMax: 50_000_000,
    progress,
  }
  /**
   * Returns after how many seconds the first result other than `fine` came, and that result. If
   * there is none, returns `[seconds, 'fine']`.
   */
  const pass = (seconds: number, bytesPerSecond: number): [number, Judgement] => {
    for (let second = 1; second <= seconds; second++) {
      socket.bytesRead += bytesPerSecond
      const found = judgeExchange(fake, 1_000, limits)
      if (found !== 'fine') return [second, found]
    }
    return [seconds, 'fine']
  }
  return { fake, request, response, socket, pass }
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

t.test('the first sweep judges no body: it may have seen a part of a second', async (t) => {
  const { fake, socket, pass } = exchange()
  fake.progress = undefined
  socket.bytesRead = 60_000_000
  t.same(pass(12, 0), [12, 'slow_body'])
})
