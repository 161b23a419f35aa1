import { helpOf, type ProblemCode } from '@intake/health'

/** Something that is configured wrongly. */
export interface Finding {
  code: ProblemCode
  /** What is wrong, as a sentence. */
  detail: string
  /** What to change, as a sentence. */
  change: string
  /** The page that says more, from the root of the repository. */
  help: string
}

export const finding = (code: ProblemCode, detail: string, change: string): Finding => ({
  code,
  detail: sentence(detail),
  change,
  help: helpOf(code),
})

const sentence = (text: string) =>
  `${text[0]?.toUpperCase() ?? ''}${text.slice(1).replace(/\.$/, '')}.`
