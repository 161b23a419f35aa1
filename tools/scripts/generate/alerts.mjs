import { helpOf, problemCatalogue } from '../../../packages/health/dist/problem-catalogue.js'

const reported = Object.entries(problemCatalogue).filter(([, { seenBy }]) => seenBy === undefined)

export const alertName = (code) =>
  `Intake${code.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase())}`

export const severityOf = ({ state, refuses }) =>
  state === 'down' || refuses ? 'critical' : 'warning'

const quoted = (text) => `'${text.replaceAll("'", "''")}'`
const capitalised = (text) => `${text[0].toUpperCase()}${text.slice(1)}`

export function alertGroup() {
  const rules = reported.map(
    ([code, problem]) => `      - alert: ${alertName(code)}
        expr: max by (${problem.perProcess ? 'code, instance' : 'code'}) (intake_problem{code="${code}"}) == 1
        keep_firing_for: 1m
        labels: { severity: ${severityOf(problem)}, code: ${code} }
        annotations:
          summary: ${quoted(capitalised(problem.title))}
          description: ${quoted(problem.alert)}
          runbook_url: ${helpOf(code)}
`,
  )
  return `  - name: intake-problems\n    interval: 5s\n    rules:\n${rules.join('\n')}`
}

/** For each of these alerts a case in which it is silent, and fires at the first scrape. */
export function alertCases() {
  return reported
    .map(([code, problem]) => {
      const name = alertName(code)
      const instance = problem.perProcess ? 'instance="b",' : ''
      return `  - name: ${name} fires at the first scrape that reports ${code}
    interval: 5s
    input_series:
      - { series: 'intake_problem{code="${code}",instance="a"}', values: '0x4' }
      - { series: 'intake_problem{code="${code}",instance="b"}', values: '0x2 1x1' }
    promql_expr_test:
      - { expr: 'ALERTS{alertname="${name}"}', eval_time: 10s }
      - expr: ALERTS{alertname="${name}"}
        eval_time: 15s
        exp_samples:
          - labels: ALERTS{alertname="${name}",alertstate="firing",code="${code}",${instance}severity="${severityOf(problem)}"}
            value: 1
`
    })
    .join('\n')
}
