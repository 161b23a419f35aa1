import t from 'tap'
import type { Alert } from '@intake/access'
import { countUsual } from '../../src/alerts/count-windows.ts'

t.test('usual is the median of the days with events, of which there are three', async (t) => {
  const alerts = [60, 120].map((minutes) => ({ id: `${minutes}`, minutes }) as Alert)
  // Only in its longer window did the application send anything on the fourth day.
  const days = [
    { numbers: [9, 9], all: [9, 9] },
    { numbers: [0, 1], all: [5, 6] },
    { numbers: [0, 5], all: [0, 5] },
  ]
  const usualOf = async (rows: typeof days) => {
    const usual = await countUsual({ query: async <Row>() => rows as Row[] }, alerts, Date.now())
    return Object.fromEntries(usual)
  }
  t.same(await usualOf(days), { 120: 5 })
  t.same(await usualOf([...days, { numbers: [3, 2], all: [3, 2] }]), { 60: 3, 120: 3.5 })
})
