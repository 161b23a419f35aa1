import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import type { Alert } from '@intake/access'
import { pause } from '@intake/runtime'
import { createTestClock } from '@intake/test-kit/test-clock'
import { startAlerts } from '../../src/alerts/alerts.ts'
import { createEvaluation } from '../../src/alerts/evaluate.ts'

const minuteMs = 60_000
const above = { condition: 'above', threshold: 0, unit: 'events', minutes: 1 } as Alert
const alerts = ['com.flood', 'com.one', 'com.two'].map((bundle) => ({
  ...above,
  id: bundle,
  bundle,
}))
const noResponse = () => new ClickHouseError('no response', { kind: 'retry' })
const tooMuch = () => new ClickHouseError('too much', { kind: 'split', code: 241 })

/** Counts 1 for each alert, unless `fail` throws. */
function evaluating(fail: (bundle: unknown) => void) {
  const asked: unknown[] = []
  const errors: unknown[] = []
  let nowMs = 0
  const evaluate = createEvaluation({
    clock: { now: () => nowMs },
    reader: {
      async query<Row>(sql: string, { bundle }: Record<string, unknown> = {}) {
        if (sql.includes("'crash'")) return []
        if (bundle !== undefined) asked.push(bundle)
        try {
          fail(bundle)
        } catch (error) {
          if ((error as ClickHouseError).kind === 'retry') nowMs += 8_000
          throw error
        }
        return [{ numbers: [1] }] as Row[]
      },
    },
    onError: (error) => errors.push(error),
  })
  // It can be counted, although the other alerts of its application cannot.
  const crash = { ...alerts[0]!, id: 'crash', condition: 'new-crash' } as Alert
  const at = async (minute: number) => {
    nowMs = minute * minuteMs
    const states = new Map<string, string>()
    const all = [crash, ...alerts]
    for await (const some of evaluate(all, {
      nowMs,
      visibleUntilMs: nowMs,
      refusedKeys: [],
    }))
      for (const { alert, state } of some) states.set(alert.id, state)
    return alerts.map(({ id }) => states.get(id))
  }
  return { asked, errors, at }
}

for (const [what, failure] of [
  ['cannot be counted', tooMuch],
  ['takes all the time', noResponse],
] as const) {
  t.test(`an application that ${what} keeps no other from being counted`, async (t) => {
    let isFlooding = true
    const { asked, errors, at } = evaluating((bundle) => {
      if (isFlooding && bundle === 'com.flood') throw failure()
    })
    t.same(await at(0), ['unknown', 'firing', 'firing'])
    asked.splice(0)
    t.same(await at(1), ['unknown', 'firing', 'firing'])
    t.same(asked, ['com.one', 'com.two', 'com.flood'], 'it comes after the others')
    t.equal(errors.length, 2)
    isFlooding = false
    t.same(await at(2), ['firing', 'firing', 'firing'])
    isFlooding = true
    await at(3)
    isFlooding = false
    t.same(await at(4), ['firing', 'firing', 'firing'], 'a single failure costs one evaluation')
  })
}

t.test('while ClickHouse is away, no application is set apart', async (t) => {
  let isAway = true
  const { asked, at } = evaluating(() => {
    if (isAway) throw noResponse()
  })
  await t.rejects(at(0), { message: 'no response' })
  isAway = false
  t.same(await at(0), ['firing', 'firing', 'firing'])
  t.equal(asked.length, 4)
})

t.test('applications that are slow to count delay no others, and take turns', async (t) => {
  const clock = createTestClock()
  const slow = Array.from({ length: 20 }, (_, index) => {
    const crash = { ...above, condition: 'new-crash' } as Alert
    return { ...crash, bundle: `com.slow.${index}`, id: `crash-${index}` }
  })
  const times = new Map<string, number[]>()
  let slowMs = 0
  const evaluate = createEvaluation({
    clock,
    reader: {
      async query<Row>(sql: string) {
        const isSlow = sql.includes("'crash'")
        await pause(isSlow ? 8_000 : 10, { clock })
        if (isSlow) slowMs += 8_000
        return (isSlow ? [] : [{ numbers: [1] }]) as Row[]
      },
    },
    onError: (error) => t.error(error),
  })
  const { close } = startAlerts({
    redis: { set: async () => 'OK' },
    async run() {
      const nowMs = clock.now()
      const situation = { nowMs, visibleUntilMs: nowMs, refusedKeys: [] }
      const oldest = ({ id }: Alert) => times.get(id)?.at(-1) ?? 0
      const due = [...slow, ...alerts].toSorted((a, b) => oldest(a) - oldest(b))
      for await (const some of evaluate(due, situation))
        for (const { alert } of some)
          times.set(alert.id, [...(times.get(alert.id) ?? []), clock.now()])
    },
    onError: (error) => t.error(error),
    clock,
  })
  t.teardown(close)
  const minutes = 90
  await clock.advance(minutes * minuteMs)
  for (const { id } of alerts) {
    // At the first evaluation it is not known which are slow.
    const own = [...times.get(id)!, clock.now()]
    const longest = Math.max(...own.slice(1).map((at, index) => at - own[index]!))
    t.ok(longest <= 2 * minuteMs, `${id}: ${longest} ms`)
  }
  t.ok(slowMs <= (minutes * minuteMs) / 4, `${slowMs} ms for slow ones`)
  for (const { id } of slow) t.ok((times.get(id)?.length ?? 0) >= 2, id)
})
