import t from 'tap'
import { limits } from '@intake/contract'
import { createTestClock } from '@intake/test-kit/test-clock'
import { untilGatewaysKnow } from '../src/until-gateways-know.ts'

t.test(
  'waits longer than a gateway takes to read the policy and to enqueue a record',
  async (t) => {
    const clock = createTestClock()
    const sentences: string[] = []
    let isOver = false
    const wait = untilGatewaysKnow((sentence) => sentences.push(sentence), clock)
    const watched = wait.finally(() => (isOver = true))
    const policyIntervalMs = 2_000
    const [ms = 0] = clock.pending()
    t.ok(ms > policyIntervalMs + Math.max(limits.acceptanceMs.logs, limits.acceptanceMs.feedback))
    t.same(sentences, [
      'waiting 45 s until gateways know the change and have enqueued what they accepted before',
    ])
    await clock.advance(ms - 1)
    t.notOk(isOver)
    await clock.advance(1)
    await watched
    t.ok(isOver)
  },
)
