import { codeOf, invisible } from '@intake/runtime'
import { html, type Html, type HtmlValue } from './html.ts'

/** With a group, so that `split` keeps what it finds. */
const separated = new RegExp(`(${invisible.source})`, 'u')

/**
 * A text from a client. It cannot change the direction of what is around it, and invisible characters are
 * shown by their code.
 *
 * @param lengthMax in UTF-16 units; the rest is left out and said to be
 */
export function clientText(text: string, lengthMax = 20_000): Html {
  const shown = text.slice(0, lengthMax).toWellFormed()
  const rest = text.length - shown.length
  const parts = shown.split(separated)
  const omitted = (parts.length - 1) / 2 - marksMax
  const notes = [note(rest, 'more characters'), note(omitted, 'more invisible characters')]
  return html`<bdi class="client">${parts.map(mark)}</bdi>${notes}`
}

/** Beyond it they are left out: each mark is much longer than what it shows. */
const marksMax = 100

/** Every second part is invisible. */
function mark(part: string, index: number): HtmlValue {
  if (index % 2 === 0) return part
  return index < 2 * marksMax ? html`<span class="code">${codeOf(part)}</span>` : undefined
}

function note(count: number, what: string): Html | undefined {
  return count > 0 ? html`<span class="note"> … ${count} ${what}</span>` : undefined
}
