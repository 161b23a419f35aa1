import {
  helpOf,
  problemCatalogue,
  type ProblemCode,
  type ProblemState,
} from '@intake/health/problem-catalogue'

/** A wrong setting, or a problem that follows from one. */
export interface Finding {
  code: ProblemCode
  state: ProblemState
  /** The problem, as a sentence. */
  detail: string
  /** The change that solves the problem, as a sentence. */
  change: string
  /** The path of the documentation page, relative to the root of the repository. */
  help: string
}

export const finding = (code: ProblemCode, detail: string, change: string): Finding => ({
  code,
  state: problemCatalogue[code].state,
  detail: sentence(detail),
  change,
  help: helpOf(code),
})

/**
 * Returns the finding with the state `degraded`, for something that Intake can do without for now.
 */
export const degraded = (one: Finding): Finding => ({ ...one, state: 'degraded' })

const sentence = (text: string) =>
  `${text[0]?.toUpperCase() ?? ''}${text.slice(1).replace(/\.$/, '')}.`
