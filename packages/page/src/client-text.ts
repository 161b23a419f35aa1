import { html, type Html, type HtmlValue } from './html.ts'

/**
 * Characters that are invisible or change how others are shown: controls except tab and line feed, and
 * format characters and fillers (direction overrides, zero-width ones, tags) except those that join or vary
 * emoji and letters.
 */
const invisible =
  /((?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}\u2800])/u

/**
 * A text from a client. It cannot change the direction of what is around it, and invisible characters are
 * shown by their code.
 *
 * @param lengthMax in UTF-16 units; the rest is left out and said to be
 */
export function clientText(text: string, lengthMax = 20_000): Html {
  const shown = text.slice(0, lengthMax).toWellFormed()
  const rest = text.length - shown.length
  const parts = shown.split(invisible)
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

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
}
