import {
  helpOf,
  problemCatalogue,
  type ProblemCode,
  type ProblemState,
} from '@intake/health/problem-catalogue'

export interface Finding {
  code: ProblemCode
  state: ProblemState
  detail: string
  change: string
  help: string
}

export const finding = (code: ProblemCode, detail: string, change: string): Finding => ({
  code,
  state: problemCatalogue[code].state,
  detail: sentence(detail),
  change,
  help: helpOf(code),
})

/** The finding, if its condition holds. */
export const findingIf = (holds: boolean, ...said: Parameters<typeof finding>): Finding[] =>
  holds ? [finding(...said)] : []

export const degraded = (one: Finding): Finding => ({ ...one, state: 'degraded' })

const sentence = (text: string) =>
  `${text[0]?.toUpperCase() ?? ''}${text.slice(1).replace(/\.$/, '')}.`
