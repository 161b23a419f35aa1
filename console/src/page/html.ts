import { codeOf, invisible, withLineFeeds } from '@intake/runtime'

/** Markup that is sent unescaped. Only `html` and `trusted` create it, so no row can be markup. */
export class Html {
  readonly #markup: string
  constructor(markup: string) {
    this.#markup = markup
  }
  toString(): string {
    return this.#markup
  }
}

const compact = new WeakMap<TemplateStringsArray, readonly string[]>()

const block =
  'ol|ul|li|dl|dt|dd|div|p|details|summary|section|aside|article|form|table|thead|tbody|tr|th|td|g|rect|line|path'
/** Line breaks that do not change what is shown: beside the tags of blocks, and inside tags. */
const idle = new RegExp(`\\n(?=</?(?:${block})\\b|/?>)|(?<=</?(?:${block})(?: [^<>]*)?>)\\n`, 'g')

/** End tags that the next tag of the list or table implies. A page would have hundreds of them. */
const implied = /<\/(?:li|dt|dd|tr|th|td)>/g

function withoutIndentation(parts: TemplateStringsArray): readonly string[] {
  const known = compact.get(parts)
  if (known !== undefined) return known
  const made = parts.raw.map((part) =>
    part
      .replaceAll(/\s*\n\s*/g, '\n')
      .replaceAll(idle, '')
      .replaceAll(implied, ''),
  )
  compact.set(parts, made)
  return made
}

export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[]

/**
 * Markup from a template. Texts and numbers are escaped, for use as text and in attributes with
 * double quotes; markup is inserted unchanged, and what is absent or false is omitted.
 */
export const html = (parts: TemplateStringsArray, ...values: HtmlValue[]) =>
  new Html(String.raw({ raw: withoutIndentation(parts) }, ...values.map(print)))

/** Markup that was made of a file of this version, and of nothing that a reader or client wrote. */
export const trusted = (markup: string) => new Html(markup)

function print(value: HtmlValue): string {
  if (value === undefined || value === null || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (Array.isArray(value)) return value.map(print).join('')
  return String(value).replaceAll(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

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
  const marked = parts.map((part, index) => {
    if (index % 2 === 0) return part
    return index < 2 * marksMax && html`<code>${codeOf(part)}</code>`
  })
  return html`<bdi>${marked}</bdi>${notes}`
}

export const listMarksMax = 4
const ascii = /^[ -~]*$/

/** A short text of ASCII characters cannot mislead: without markup, long lists stay small. */
export const listText = (text: string, lengthMax: number): HtmlValue =>
  text.length <= lengthMax && ascii.test(text) ? text : clientText(text, lengthMax, listMarksMax)

function note(count: number, what: string): Html | undefined {
  return count > 0 ? html`<span class="note"> … ${count} ${what}</span>` : undefined
}
