import { problemCatalogue } from '@intake/health/problem-catalogue'
import { readAlertRules } from './files.ts'

/**
 * Test cases for promtool: for the alert of each state that processes report, one in which it is
 * silent, and then fires at the first scrape. Two processes report; a problem of one is enough.
 */
export function problemCases() {
  return Object.entries(problemCatalogue).flatMap(([code, problem]) => {
    if ('seenBy' in problem) return []
    const alert = readAlertRules().find(({ labels }) => labels.code === code)?.alert
    const severity = problem.state === 'down' || 'refuses' in problem ? 'critical' : 'warning'
    const instance = 'perProcess' in problem ? ',instance="b"' : ''
    const series = (process: string) => `intake_problem{code="${code}",instance="${process}"}`
    const alerts = `ALERTS{alertname="${alert}"`
    const labels = `${alerts},alertstate="firing",code="${code}",severity="${severity}"${instance}}`
    return {
      name: `${alert} fires at the first scrape that reports ${code}`,
      interval: '5s',
      input_series: [
        { series: series('a'), values: '0x4' },
        { series: series('b'), values: '0x2 1x1' },
      ],
      promql_expr_test: [
        { expr: `${alerts}}`, eval_time: '10s' },
        { expr: `${alerts}}`, eval_time: '15s', exp_samples: [{ labels, value: 1 }] },
      ],
    }
  })
}
