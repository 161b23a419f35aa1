import t from 'tap'
import type { Alert } from '@intake/access'
import { createUsualCounts } from '../../src/alerts/usual-counts.ts'

const alertOf = (minutes: number) =>
  ({ id: `alert_${minutes}`, bundle: 'com.example.app', event: 'a', minutes }) as Alert

t.test('as many events as are usual are no more than usual', async (t) => {
  const usualCounts = createUsualCounts({
    query: async <Row>(_: string, params: Record<string, unknown> = {}) =>
      (params['hours'] as string[]).map((hour) => ({ hour, numbers: [300, 300, 300] }) as Row),
  })
  const alerts = [7, 11, 59].map(alertOf)
  const toMs = Date.UTC(2026, 10, 29, 12, 30)
  t.same([...(await usualCounts(alerts, toMs)).values()], [35, 55, 295])
})
