import t from 'tap'
import { limits } from '@intake/contract'
import { judgeExchange } from '../../../packages/http-edge/src/judge-exchange.ts'
import * as client from '../src/core/limits.ts'

// The client has no dependencies, so it contains copies of the contract's limits.
t.test('the client keeps to the limits of the contract', async (t) => {
  t.equal(client.identifierMax, limits.identifierLength)
  t.equal(client.batchMax, limits.batchEntries)
  t.equal(client.attachmentsMax, limits.attachments)
  t.equal(client.feedbackTextMax, limits.feedbackTextLength)
})

t.test('the gateway waits for a segment that arrives at 2,000 bytes a second', async (t) => {
  const socket = { bytesRead: 0 }
  const request = { socket, complete: false, readableLength: 0, readableHighWaterMark: 16_384 }
  const exchange = { request, response: {}, bodyBytesMax: Infinity } as never
  const sweeps = { bodyBytesPerSecondMin: 4_096, responseTimeoutMs: 30_000 }
  for (; socket.bytesRead < client.segmentBytesMax; socket.bytesRead += 1_000)
    t.equal(judgeExchange(exchange, 500, sweeps), 'fine', `after ${socket.bytesRead} bytes`)
})
