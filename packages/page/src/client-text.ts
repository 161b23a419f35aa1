import { codeOf, invisible } from '@intake/runtime'
import { html, type Html, type HtmlValue } from './html.ts'

/** Matches an invisible character. `split` keeps the matches, because the pattern has a group. */
const separated = new RegExp(`(${invisible.source})`, 'u')

/**
 * Shows a text from a client. It cannot change the direction of the text around it, and invisible
 * characters are shown by their codes.
 *
 * @param lengthMax in UTF-16 units; the rest is left out, with a note
 */
export function clientText(text: string, lengthMax = 20_000): Html {
  const shown = text.slice(0, lengthMax).toWellFormed()
  const rest = text.length - shown.length
  const parts = shown.split(separated)
  const omitted = (parts.length - 1) / 2 - marksMax
  const notes = [note(rest, 'more characters'), note(omitted, 'more invisible characters')]
  return html`<bdi>${parts.map(mark)}</bdi>${notes}`
}

const ascii = /^[ -~]*$/

/**
 * Shows a text from a client in a list that has hundreds of them. A short text of ASCII characters
 * needs no markup: it has no invisible character and cannot change any direction.
 */
export const listText = (text: string, lengthMax: number): HtmlValue =>
  text.length <= lengthMax && ascii.test(text) ? text : clientText(text, lengthMax)

/**
 * At most this many invisible characters are shown by their codes, because a code is longer than
 * its character.
 */
const marksMax = 100

/** Shows a part of the split text. Parts with an odd index are invisible characters. */
function mark(part: string, index: number): HtmlValue {
  if (index % 2 === 0) return part
  return index < 2 * marksMax ? html`<span class="code">${codeOf(part)}</span>` : undefined
}

function note(count: number, what: string): Html | undefined {
  return count > 0 ? html`<span class="note"> … ${count} ${what}</span>` : undefined
}
