import { cut, type Notice } from './notice.ts'

const titleLength = 140
/** The maximum length of a title. GitHub refuses longer titles. */
const titleLengthMax = 256

/**
 * Returns an issue for the API of GitHub. Texts of a client are put into blocks of code, where they
 * mention nobody and refer to nothing. In the title, an invisible space after each `@` and `#`
 * makes mentions and references ineffective.
 */
export function githubBody({ app, text, facts, link, label }: Notice): string {
  const title = cut(`${app}: ${text.split('\n')[0]}`, titleLength)
  return JSON.stringify({
    title: title.replaceAll(/[@#]/g, '$&\u200b').slice(0, titleLengthMax).toWellFormed(),
    body: [codeBlock(text), ...(facts.length > 0 ? [codeBlock(facts.join('\n'))] : []), link ?? []]
      .flat()
      .join('\n\n'),
    labels: [label],
  })
}

/**
 * Puts a text into a block of code. The fence is longer than every run of backticks in the text, so
 * that the text cannot close the block.
 */
function codeBlock(text: string): string {
  const runs = text.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(3, ...runs.map(({ length }) => length + 1)))
  return `${fence}text\n${text}\n${fence}`
}
