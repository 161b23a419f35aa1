import t from 'tap'
import { limits } from '@intake/contract'
import { unwantedBytesMax } from '../../../packages/http-edge/src/linger.ts'
import * as client from '../src/core/limits.ts'

// The client has no dependencies, so it contains copies of the contract's limits.
t.test('the client keeps to the limits of the contract', async (t) => {
  t.equal(client.identifierMax, limits.identifierLength)
  t.equal(client.batchMax, limits.batchEntries)
  t.equal(client.attachmentsMax, limits.attachments)
  t.equal(client.feedbackTextMax, limits.feedbackTextLength)
})

t.test('the gateway reads a whole segment even if it refuses it', async (t) => {
  t.ok(client.segmentBytesMax < unwantedBytesMax)
})
