import t, { type Test } from 'tap'
import type { ApiKey } from '@intake/access'
import { GatewayConfig } from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { createTestClock, type TestClock } from '@intake/test-kit/test-clock'
import {
  startFleetCounters,
  type FleetCounter,
  type FleetCounters,
} from '../../src/admission/fleet-counters.ts'
import { KeyLimiter } from '../../src/admission/key-limits.ts'
import type { SharedCounts } from '../../src/admission/shared-counts.ts'

const windowMs = 60_000
const max = 6_000

/** Counts requests like Redis does, but in memory and with the test's clock. */
function createMemoryCounts(clock: TestClock): SharedCounts & { fails: boolean; calls: number } {
  const common = new Map<string, { total: number; endsAt: number }>()
  return {
    fails: false,
    calls: 0,
    async add(counted) {
      this.calls++
      if (this.fails) throw new Error('no connection')
      return counted.map(({ name, amount }) => {
        let count = common.get(name) ?? { total: 0, endsAt: 0 }
        if (count.endsAt <= clock.now()) count = { total: 0, endsAt: clock.now() + windowMs }
        count.total += amount
        common.set(name, count)
        return { total: count.total, msLeft: count.endsAt - clock.now() }
      })
    },
  }
}

/** Counts one request, and returns the total. */
function countOne(counter: FleetCounter): number {
  counter.add(1, max)
  return counter.total()
}

function startGateways(t: Test, count: number) {
  const clock = createTestClock()
  const counts = createMemoryCounts(clock)
  const errors: unknown[] = []
  const fleet = Array.from({ length: count }, () =>
    startFleetCounters({ counts, onError: (error) => errors.push(error), clock }),
  )
  const gateways = fleet.map((counters) => counters.open('key', windowMs))
  t.teardown(() => fleet.forEach((counters) => counters.close()))

  /** Sends requests to the gateways in rotation; returns the number of accepted requests. */
  async function send(perSecond: number, seconds: number): Promise<number> {
    let passed = 0
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      for (let request = 0; request < perSecond / 10; request++) {
        if (countOne(gateways[request % gateways.length]!) <= max) passed++
      }
      await clock.advance(100)
    }
    return passed
  }
  return { clock, counts, errors, fleet, gateways, send }
}

const isNear = (passed: number) => Math.abs(passed - max) <= max * 0.05

t.test('one limit holds for all gateways, in each minute', async (t) => {
  for (const gatewayCount of [1, 2, 4]) {
    const { send, counts } = startGateways(t, gatewayCount)
    for (const minute of [1, 2, 3]) {
      const passed = await send(200, 60)
      t.ok(isNear(passed), `${gatewayCount} gateways, minute ${minute}: ${passed}`)
    }
    t.ok(counts.calls < 3 * 60 * 10 * gatewayCount, `${counts.calls} calls for 36,000 requests`)
  }
})

t.test('a burst is limited, too', async (t) => {
  const { send } = startGateways(t, 2)
  const passed = await send(20_000, 2)
  t.ok(passed < max * 1.4, `${passed} pass`)
})

t.test('a gateway that joins learns how many requests there were', async (t) => {
  const { clock, counts, send } = startGateways(t, 2)
  await send(200, 40)
  const counters: FleetCounters = startFleetCounters({
    counts,
    onError: (error) => t.fail(String(error)),
    clock,
  })
  const late = counters.open('key', windowMs)
  t.equal(countOne(late), 1)
  t.equal(late.msLeft(), windowMs)
  await clock.advance(1_000)
  t.ok(countOne(late) > max)
  t.ok(late.msLeft() <= 20_000)
  t.equal(countOne(counters.open('another key', windowMs)), 1)
  await clock.advance(20_000)
  t.equal(late.total(), 0)
  t.equal(countOne(late), 1, 'a new window')
  counters.close()
})

t.test('a gateway to which a key has sent nothing knows that its budget is spent', async (t) => {
  const { clock, fleet } = startGateways(t, 2)
  const unused = { REDIS_URL: 'redis://unused', S3_ENDPOINT: 'http://unused' }
  const config = loadConfig(GatewayConfig, unused)
  const [first, second] = fleet.map(
    (counters) => new KeyLimiter({ config, counters, clock, wallMs: () => 0 }),
  ) as [KeyLimiter, KeyLimiter]
  const key = { id: 'key_1', limits: { eventsPerDay: max } } as ApiKey
  t.same(second.budgetsNearEnd([key]), [])
  await clock.advance(1_000)
  first.take(key, 'device', { kind: 'logs', records: max, bytes: 0, attachmentBytes: 0 })
  await clock.advance(5_000)
  t.same(second.budgetsNearEnd([key]), ['key_1 has used 100 % of its events for this day'])
  t.throws(() => second.requireCapacity(second.usageOf(key), 'logs'), { code: 'budget_exhausted' })
})

t.test('what is taken back counts no more, also in the other gateways', async (t) => {
  const { clock, gateways } = startGateways(t, 2)
  const [first, second] = gateways as [FleetCounter, FleetCounter]
  first.add(5, max)
  first.add(-5, max)
  t.equal(first.total(), 0)
  first.add(100, max)
  await clock.advance(1_000)
  first.add(-40, max)
  first.add(40, max)
  second.add(1, max)
  await clock.advance(1_000)
  t.equal(second.total(), 101)
})

t.test('without Redis each gateway counts its own, and shares it afterwards', async (t) => {
  const { clock, counts, errors, send } = startGateways(t, 2)
  counts.fails = true
  const alone = await send(400, 60)
  t.ok(alone > 1.9 * max, `${alone} pass`)
  t.ok(errors.length > 0)
  counts.fails = false
  await send(10, 2)
  await clock.advance(windowMs)
  t.ok(isNear(await send(200, 60)))
})

t.test('a gateway that counts nothing has no timer', async (t) => {
  const { clock, counts, gateways } = startGateways(t, 1)
  await clock.advance(0)
  t.strictSame(clock.pending(), [], 'before the first window')
  gateways[0]!.add(1, max)
  await clock.advance(0)
  t.equal(counts.calls, 1)
  t.equal(clock.pending().length, 1)
  await clock.advance(windowMs + 1_000)
  t.strictSame(clock.pending(), [], 'after the window')
})
