import t from 'tap'
import type { Alert } from '@intake/access'
import { createUsualCounts } from '../../src/alerts/usual-counts.ts'

const alertOf = (minutes: number) =>
  ({ id: `alert_${minutes}`, bundle: 'com.example.app', event: 'a', minutes }) as Alert

/** In each of the newest `hoursMax` hours that are asked for, there are 300 events. */
function create(hoursMax = Infinity) {
  const asked: number[] = []
  const usualCounts = createUsualCounts({
    query: async <Row>(_: string, params: Record<string, unknown> = {}) => {
      const hours = params['hours'] as string[]
      asked.push(hours.length)
      return hours.slice(0, hoursMax).map((hour) => ({ hour, numbers: [300, 300, 300] }) as Row)
    },
  })
  const usual = async (windows: number[], toMs: number) => [
    ...(await usualCounts(windows.map(alertOf), toMs)).values(),
  ]
  return { usual, asked }
}

t.test('as many events as are usual are no more than usual', async (t) => {
  const toMs = Date.UTC(2026, 10, 29, 12, 30)
  t.same(await create().usual([7, 11, 59], toMs), [35, 55, 295])
})

const toMs = Date.UTC(2026, 10, 29, 12)

t.test(
  'of the days, only those with events of the application count, at least three',
  async (t) => {
    t.same(await create(3).usual([60], toMs), [300])
    t.same(await create(2).usual([60], toMs), [])
  },
)

t.test('the hours of a long window are counted by and by, each once', async (t) => {
  const { usual, asked } = create()
  for (const known of [[], [1_800], [1_800]]) t.same(await usual([360], toMs), known)
  t.same(asked, [24, 18])
})
