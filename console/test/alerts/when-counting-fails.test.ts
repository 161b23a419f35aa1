import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import type { Alert } from '@intake/access'
import { pause } from '@intake/runtime'
import { createTestClock } from '@intake/test-kit/test-clock'
import { startAlerts } from '../../src/alerts/alerts.ts'
import { countApart } from '../../src/alerts/count-apart.ts'

const minuteMs = 60_000
const alertOf = (bundle: string) => ({ id: bundle, bundle }) as Alert
const alerts = ['com.flood', 'com.one', 'com.two'].map(alertOf)
const noResponse = () => new ClickHouseError('no response', { kind: 'retry' })
const tooMuch = () => new ClickHouseError('too much', { kind: 'split', code: 241 })

/** Counts 1 for each alert, unless `fail` throws. */
function counting(fail: (bundles: string[]) => void, isAway = () => false) {
  const asked: string[][] = []
  const errors: unknown[] = []
  const count = countApart<number>(
    async (some) => {
      const bundles = some.map(({ bundle }) => bundle)
      asked.push(bundles)
      fail(bundles)
      return new Map(some.map(({ id }) => [id, 1]))
    },
    {
      onError: (error) => errors.push(error),
      async ping() {
        if (isAway()) throw noResponse()
      },
    },
  )
  return {
    asked,
    errors,
    at: (minute: number) => count(alerts, { toMs: 0, nowMs: minute * minuteMs }),
  }
}

t.test('an application that cannot be counted keeps no other from being counted', async (t) => {
  let isFlooding = true
  const { asked, errors, at } = counting((bundles) => {
    if (isFlooding && bundles.includes('com.flood')) throw tooMuch()
  })
  t.same([...(await at(0)).keys()], ['com.one', 'com.two'])
  t.same(asked.splice(0), [
    ['com.flood', 'com.one', 'com.two'],
    ['com.flood'],
    ['com.one'],
    ['com.two'],
  ])
  t.equal(errors.length, 2)
  t.same([...(await at(1)).keys()], ['com.one', 'com.two'])
  t.same(asked.splice(0), [['com.one', 'com.two']], 'the others are together, and it is left out')
  isFlooding = false
  t.equal((await at(10)).size, 3)
  t.same(asked.splice(0), [['com.one', 'com.two'], ['com.flood']], 'it is tried alone')
  await at(11)
  t.same(asked, [['com.flood', 'com.one', 'com.two']])
})

t.test('while ClickHouse is away, no application is set apart', async (t) => {
  let isAway = true
  const { asked, at } = counting(
    () => {
      if (isAway) throw noResponse()
    },
    () => isAway,
  )
  await t.rejects(at(0), { message: 'no response' })
  isAway = false
  t.equal((await at(1)).size, 3)
  t.equal(asked.length, 2)
})

t.test('an application that takes all the time keeps no other from being counted', async (t) => {
  const { asked, at } = counting((bundles) => {
    if (bundles.includes('com.two')) throw noResponse()
  })
  t.same([...(await at(0)).keys()], ['com.flood', 'com.one'])
  t.same([...(await at(1)).keys()], ['com.flood', 'com.one'])
  t.same(asked.at(-1), ['com.flood', 'com.one'])
})

t.test('an application that alone gets no response is left out of the next run', async (t) => {
  const { asked, at } = counting((bundles) => {
    if (!bundles.includes('com.one')) return
    if (bundles.length > 1) throw tooMuch()
    throw noResponse()
  })
  t.same([...(await at(0)).keys()], ['com.flood'])
  t.same([...(await at(1)).keys()], ['com.flood', 'com.two'])
  t.same(asked.at(-1), ['com.flood', 'com.two'])
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
