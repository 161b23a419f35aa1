import { basename } from 'node:path'
import { helpOf, problemCatalogue } from '../../../packages/health/dist/problem-catalogue.js'
import { alertName, severityOf } from './alerts.mjs'

const pageOf = (code) => basename(helpOf(code))

function row([code, problem]) {
  const { title, state, seenBy, metric, event, becomes } = problem
  const level = state === 'down' ? 'error' : 'warn'
  const line = event ?? (seenBy ? undefined : `${title}\` (${level})`)
  const later = becomes?.map((other) => `[${other}](${pageOf(other)})`)
  const shown = [
    seenBy ? undefined : `\`${state}\``,
    seenBy === 'doctor' ? undefined : `\`${alertName(code)}\` (${severityOf(problem)})`,
    metric && `\`${metric}\``,
    line && `log ${event ? `\`${line}\`` : `\`${line}`}`,
    later && `later as ${later.join(' or ')}`,
  ]
  return `- [\`${code}\`](${pageOf(code)}): ${shown.filter(Boolean).join(', ')}`
}

/** The list of all states and where each is visible, without its heading. */
export function statesList() {
  return Object.entries(problemCatalogue).map(row).join('\n')
}
