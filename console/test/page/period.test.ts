import t from 'tap'
import { readPeriod, startsOf, stepsBetween, stepsOf } from '../../src/page/period.ts'

const hourMs = 3_600_000
const now = Date.UTC(2026, 10, 25, 12, 9, 40)

t.test('a named period ends with the step that is not over', async (t) => {
  const day = stepsOf('24h', now)
  t.equal(new Date(day.from).toISOString(), '2026-11-24T13:00:00.000Z')
  t.equal(new Date(day.to).toISOString(), '2026-11-25T13:00:00.000Z')
  t.equal(startsOf(day).length, 24)
  t.equal(startsOf(stepsOf('1h', now)).length, 60)
  t.equal(startsOf(stepsOf('7d', now)).length, 56)
  t.equal(startsOf(stepsOf('30d', now)).length, 30)
})

t.test('a chosen period has steps that contain it, as many as a chart can show', async (t) => {
  for (const hours of [1 / hourMs, 999 / hourMs, 1 / 60, 1, 5, 40 * 24, 3_000 * 24]) {
    const lengthMs = hours * hourMs
    const { from, to, stepMs } = stepsBetween({ from: now - lengthMs, to: now })
    t.ok(from <= now - lengthMs && to >= now, `${lengthMs}`)
    const { length } = startsOf({ from, to, stepMs })
    t.ok(length >= 1 && length <= 74, `${lengthMs}: ${length} steps`)
  }
})

t.test('400 for a period that there is not', async (t) => {
  t.equal(readPeriod(new URLSearchParams(), '7d'), '7d')
  t.equal(readPeriod(new URLSearchParams('period=1h'), '7d'), '1h')
  for (const query of ['period=2h', 'period=toString', 'period=']) {
    const read = () => readPeriod(new URLSearchParams(query), '7d')
    t.throws(read, { name: 'PageError', statusCode: 400 }, query)
  }
})
