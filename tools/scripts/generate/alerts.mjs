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
