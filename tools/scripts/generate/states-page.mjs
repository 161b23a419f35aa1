import { basename } from 'node:path'
import { helpOf, problemCatalogue } from '../../../packages/health/dist/problem-catalogue.js'
import { alertName, severityOf } from './alerts.mjs'

const pageOf = (code) => basename(helpOf(code))

function row([code, problem]) {
  const { title, state, seenBy, metric, event, becomes } = problem
  const level = state === 'down' ? 'error' : 'warn'
  const line = event ?? (seenBy ? undefined : `${title}\` (${level})`)
  const later = becomes?.map((other) => `[${other}](${pageOf(other)})`)
  const cells = [
    `[\`${code}\`](${pageOf(code)})`,
    metric ? `\`${metric}\`` : '–',
    seenBy === 'doctor' ? '–' : `\`${alertName(code)}\` (${severityOf(problem)})`,
    seenBy ? '–' : `\`${state}\``,
    [line && (event ? `\`${line}\`` : `\`${line}`), later && `later as ${later.join(' or ')}`]
      .filter(Boolean)
      .join('; '),
  ]
  return `| ${cells.join(' | ')} |`
}

/** The table of all states and where each is visible, without its heading. */
export function statesTable() {
  return `| State | Metric beside \`intake_problem{code}\` | Alert | \`/status\` | Log line |
| --- | --- | --- | --- | --- |
${Object.entries(problemCatalogue).map(row).join('\n')}`
}
