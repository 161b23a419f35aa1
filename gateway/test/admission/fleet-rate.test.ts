import t from 'tap'
import { createTestClock, type TestClock } from '@intake/test-kit/test-clock'
import { startFleetRate } from '../../src/admission/fleet-rate.ts'
import type { RateCounts } from '../../src/admission/rate-counts.ts'

const windowMs = 60_000
const max = 6_000

/** Counts requests like Redis does, but in memory and with the test's clock. */
function createMemoryCounts(clock: TestClock): RateCounts & { fails: boolean; calls: number } {
  const common = new Map<string, { requests: number; endsAt: number }>()
  return {
    fails: false,
    calls: 0,
    async add(counted) {
      this.calls++
      if (this.fails) throw new Error('no connection')
      return counted.map(({ apiKeyId, requests }) => {
        const known = common.get(apiKeyId)
        const count =
          known !== undefined && known.endsAt > clock.now()
            ? known
            : { requests: 0, endsAt: clock.now() + windowMs }
        count.requests += requests
        common.set(apiKeyId, count)
        return { requests: count.requests, msLeft: count.endsAt - clock.now() }
      })
    },
  }
}

function startGateways(count: number) {
  const clock = createTestClock()
  const counts = createMemoryCounts(clock)
  const errors: unknown[] = []
  const gateways = Array.from({ length: count }, () =>
    startFleetRate({ counts, max, windowMs, onError: (error) => errors.push(error), clock }),
  )
  const close = () => gateways.forEach((gateway) => gateway.close())

  /** Sends requests to the gateways in turn; returns how many pass. */
  async function send(perSecond: number, seconds: number): Promise<number> {
    let passed = 0
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      for (let request = 0; request < perSecond / 10; request++) {
        const gateway = gateways[request % gateways.length]
        if ((gateway?.count('key')?.requests ?? 0) <= max) passed++
      }
      await clock.advance(100)
    }
    return passed
  }
  return { clock, counts, errors, gateways, send, close }
}

const isNear = (passed: number) => Math.abs(passed - max) <= max * 0.05

t.test('one limit holds for all gateways, in each minute', async (t) => {
  for (const gatewayCount of [1, 2, 4]) {
    const { send, counts, close } = startGateways(gatewayCount)
    for (const minute of [1, 2, 3]) {
      const passed = await send(200, 60)
      t.ok(isNear(passed), `${gatewayCount} gateways, minute ${minute}: ${passed}`)
    }
    t.ok(counts.calls < 3 * 60 * 10 * gatewayCount, `${counts.calls} calls for 36,000 requests`)
    close()
  }
})

t.test('a burst is limited, too', async (t) => {
  const { send, close } = startGateways(2)
  const passed = await send(20_000, 2)
  t.ok(passed < max * 1.4, `${passed} pass`)
  close()
})

t.test('a gateway that joins learns how many requests there were', async (t) => {
  const { clock, counts, send, close } = startGateways(2)
  await send(200, 40)
  const late = startFleetRate({
    counts,
    max,
    windowMs,
    onError: (error) => t.fail(String(error)),
    clock,
  })
  t.match(late.count('key'), { requests: 1, msLeft: windowMs })
  await clock.advance(1_000)
  const { requests, msLeft } = late.count('key')
  t.ok(requests > max)
  t.ok(msLeft <= 20_000)
  t.equal(late.count('another key').requests, 1)
  await clock.advance(20_000)
  t.equal(late.count('key').requests, 1, 'a new window')
  late.close()
  close()
})

t.test('without Redis each gateway counts its own, and shares it afterwards', async (t) => {
  const { clock, counts, errors, send, close } = startGateways(2)
  counts.fails = true
  const alone = await send(400, 60)
  t.ok(alone > 1.9 * max, `${alone} pass`)
  t.ok(errors.length > 0)
  counts.fails = false
  await send(10, 2)
  await clock.advance(windowMs)
  t.ok(isNear(await send(200, 60)))
  close()
})
