import t from 'tap'
import { describeSummary } from '../src/status/describe-summary.ts'
import type { AskedService } from '../src/status/service-status.ts'

const firstLine = (gateway: AskedService['state']) => {
  const services = [
    { service: 'gateway', url: 'http://gateway', state: gateway, problems: [] },
    { service: 'worker', url: 'http://worker', state: 'down', problems: [] },
  ] as AskedService[]
  return describeSummary({ state: 'down', problems: [], services }, new Date(0)).split('\n')[0]
}

t.test('a gateway with a lesser problem accepts records, too', async (t) => {
  t.match(firstLine('ok'), 'Intake is accepting, not storing.')
  t.match(firstLine('degraded'), 'Intake is accepting, not storing.')
  t.match(firstLine('down'), 'Intake is down.')
})
