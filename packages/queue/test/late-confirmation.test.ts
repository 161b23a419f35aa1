import t from 'tap'
import { compress } from '@intake/queue/frame'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createFrameProducer, type JobSink } from '../src/produce.ts'

const frame = { receivedAtMs: 0, rows: 1, jsonBytes: 3, ...compress('{}\n') }

/** Adds a frame to a sink in virtual time; resolves to the code of the error. */
async function add(sinkOf: (wait: (ms: number) => Promise<void>) => Partial<JobSink>) {
  const clock = createTestClock()
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
  const none = async () => {}
  const sink = { ready: none, add: none, close: none, ...sinkOf(wait) }
  const added = createFrameProducer({ sink, clock }).add(frame, 4_000)
  const settled = added.catch(({ code }: { code: string }) => code)
  await clock.runAll()
  return settled
}

t.test('a slow Redis confirms a frame, although each attempt has timed out', async (t) => {
  t.equal(await add((wait) => ({ add: () => wait(3_500) })), undefined)
  t.equal(await add((wait) => ({ add: () => wait(4_500) })), 'outcome_unknown')
})

t.test('an attempt that was abandoned before it sent the frame confirms nothing', async (t) => {
  let calls = 0
  const ready = (wait: (ms: number) => Promise<void>) => () => wait(calls++ === 0 ? 2_000 : 9_000)
  const neverAdded = async () => void t.fail('sent after the deadline')
  t.equal(await add((wait) => ({ ready: ready(wait), add: neverAdded })), 'queue_unavailable')
})
