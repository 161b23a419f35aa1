import { codeOf, invisible, withLineFeeds } from '@intake/runtime'
import { html, type Html, type HtmlValue } from './html.ts'

/** Matches one invisible character. The pattern is a group, so `split` also returns the matches. */
const separated = new RegExp(`(${invisible.source})`, 'u')

/**
 * Markup for a text from a client: it cannot change the direction of the text around it, and
 * invisible characters are shown as codes, at most `marksMax` because codes are longer.
 *
 * @param lengthMax the maximum length in UTF-16 units; the rest is replaced by a note
 */
export function clientText(value: string, lengthMax = 20_000, marksMax = 100): Html {
  const text = withLineFeeds(value)
  const shown = text.slice(0, lengthMax).toWellFormed()
  const rest = text.length - shown.length
  const parts = shown.split(separated)
  const omitted = (parts.length - 1) / 2 - marksMax
  const notes = [note(rest, 'more characters'), note(omitted, 'more invisible characters')]
  const marked = parts.map((part, index) =>
    index % 2 === 0 || index < 2 * marksMax ? mark(part, index) : undefined,
  )
  return html`<bdi>${marked}</bdi>${notes}`
}

export const listMarksMax = 4
const ascii = /^[ -~]*$/

/** A short text of ASCII characters cannot mislead: without markup, long lists stay small. */
export const listText = (text: string, lengthMax: number): HtmlValue =>
  text.length <= lengthMax && ascii.test(text) ? text : clientText(text, lengthMax, listMarksMax)

/** A part with an odd index is an invisible character. */
function mark(part: string, index: number): HtmlValue {
  return index % 2 === 0 ? part : html`<code>${codeOf(part)}</code>`
}

function note(count: number, what: string): Html | undefined {
  return count > 0 ? html`<span class="note"> … ${count} ${what}</span>` : undefined
}
