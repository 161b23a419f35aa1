import { helpOf, problemCatalogue, type ProblemCode, type ProblemState } from '@intake/health'

/** Something that is configured wrongly. */
export interface Finding {
  code: ProblemCode
  state: ProblemState
  /** What is wrong, as a sentence. */
  detail: string
  /** What to change, as a sentence. */
  change: string
  /** The page that says more, from the root of the repository. */
  help: string
}

export const finding = (code: ProblemCode, detail: string, change: string): Finding => ({
  code,
  state: problemCatalogue[code].state,
  detail: sentence(detail),
  change,
  help: helpOf(code),
})

/** The same about something that Intake can do without for now. */
export const degraded = (one: Finding): Finding => ({ ...one, state: 'degraded' })

const sentence = (text: string) =>
  `${text[0]?.toUpperCase() ?? ''}${text.slice(1).replace(/\.$/, '')}.`
