import { clientText, listText } from '../client-text.ts'
import { parseLossless } from '@intake/json'
import { html, type Html } from '../html.ts'
import { printJson } from './columns.ts'

const namesMax = 12

type Params = [name: string, value: unknown][]

/**
 * Parses the params of a summary; undefined if the summary has only the beginning of a longer text.
 */
function parseParams(start: string): Params | undefined {
  try {
    return Object.entries(parseLossless(start) as object)
  } catch {
    return undefined
  }
}

/** At most this many params of an event are links, so that a list stays small. */
const linksMax = 2
const linkedMax = 60

/** The params by whose value a list is most likely filtered: short texts, then numbers and booleans. */
export const filterableParams = (start: string): [path: string, value: string][] =>
  (parseParams(start) ?? [])
    .filter(([name, value]) => value !== null && typeof value !== 'object' && name !== '')
    .toSorted(([, a], [, b]) => Number(typeof b === 'string') - Number(typeof a === 'string'))
    .map(([name, value]): [string, string] => [name, shown(value)])
    .filter(([name, value]) => value !== '' && name.length + value.length <= linkedMax)
    .slice(0, linksMax)

const shown = (value: unknown) => (typeof value === 'string' ? value : printJson(value))

/**
 * The type that is shown after a value, to distinguish the number `12` from the text `12`.
 * Undefined for texts and null.
 */
function typeOf(value: unknown): string | undefined {
  if (typeof value === 'string' || value === null) return undefined
  if (Array.isArray(value)) return 'list'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/**
 * Prints params as a list. A value that is neither a text nor null is followed by its type. The
 * document contains the list once: the style sheet shows it in one line, or with one param per line
 * if the row is open.
 */
export function paramList(start: string): Html {
  const params = parseParams(start)
  if (params === undefined) return clientText(start, undefined, 40)
  if (params.length === 0) return html`<small>No params.</small>`
  const items = params.slice(0, namesMax).map(([name, value]) => {
    const type = typeOf(value)
    const typed = html`${listText(shown(value), 600)}${type && html`<i>${type}</i>`}`
    return html`<dt>${listText(name, 100)}</dt>
      <dd>${typed}</dd>`
  })
  const rest = params.length - namesMax
  return html`<dl>${items}${rest > 0 ? html`<dt class="note">${rest} more</dt>` : undefined}</dl>`
}
