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
  const evaluate = createEvaluation({
    reader: {
      async query<Row>(_sql: string, { bundle }: Record<string, unknown> = {}) {
        if (bundle !== undefined) asked.push(bundle)
        fail(bundle)
        return [{ numbers: [1] }] as Row[]
      },
    },
    onError: (error) => errors.push(error),
  })
  const at = async (minute: number) => {
    const nowMs = minute * minuteMs
    const evaluated = await evaluate(alerts, { nowMs, visibleUntilMs: nowMs, refusedKeys: [] })
    return evaluated.map(({ state }) => state)
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
    const timesOf = (bundle: string) => asked.splice(0).filter((one) => one === bundle).length
    for (let minute = 0; minute < 60; minute++) {
      const states = await at(minute)
      if (minute % 20 === 0) t.same(states, ['unknown', 'firing', 'firing'])
    }
    t.equal(timesOf('com.flood'), errors.length)
    t.equal(errors.length, 10, 'it is tried less and less often, down to every ten minutes')
    isFlooding = false
    t.same(await at(70), ['firing', 'firing', 'firing'])
    isFlooding = true
    await at(71)
    isFlooding = false
    t.same(await at(72), ['firing', 'firing', 'firing'], 'a single failure costs one evaluation')
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

t.test('a run that was dear is followed by a pause, one that failed is not', async (t) => {
  const clock = createTestClock()
  let runs = 0
  const { close } = startAlerts({
    takeTurn: async () => true,
    async run() {
      runs++
      await pause(30_000, { clock })
      if (runs > 1) throw tooMuch()
    },
    onError: () => {},
    clock,
  })
  t.teardown(close)
  await clock.advance(2 * minuteMs)
  t.equal(runs, 1, 'it pauses for five times as long as the run took')
  await clock.advance(4 * minuteMs)
  t.ok(runs >= 3, `${runs} runs`)
})
