import { parseLossless, printLossless } from '@intake/json'
import { clientText, html, type Html, listText } from '../html.ts'
import { facts, mute } from './parts.ts'

const namesMax = 12

type Params = [name: string, value: unknown][]

/** Undefined if the summary has only the beginning of a longer text. */
function parseParams(start: string): Params | undefined {
  try {
    return Object.entries(parseLossless(start) as object)
  } catch {
    return undefined
  }
}

const linksMax = 2
const linkedMax = 60

/** The params by whose value a list is most likely filtered: short texts, then numbers and booleans. */
export const filterableParams = (start: string): [path: string, value: string][] =>
  (parseParams(start) ?? [])
    .filter(([name, value]) => value !== null && typeof value !== 'object' && name !== '')
    .toSorted(([, a], [, b]) => Number(typeof b === 'string') - Number(typeof a === 'string'))
    .map(([name, value]): [string, string] => [name, printValue(value)])
    .filter(([name, value]) => value !== '' && name.length + value.length <= linkedMax)
    .slice(0, linksMax)

/** A value as text: JSON, but a text without quotes. */
export const printValue = (value: unknown): string =>
  typeof value === 'string' ? value : printLossless(value)

/** Distinguishes the number `12` from the text `12`. */
function typeOf(value: unknown): string | undefined {
  if (typeof value === 'string' || value === null) return undefined
  if (Array.isArray(value)) return 'list'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/** The style sheet shows the list in one line, or one param a line if the row is open. */
export function paramList(start: string): Html {
  const params = parseParams(start)
  if (params === undefined) return clientText(start, undefined, 40)
  if (params.length === 0) return html`<small>No params.</small>`
  const items = params.slice(0, namesMax).map(([name, value]) => {
    const type = typeOf(value)
    const typed = html`${listText(printValue(value), 600)}${type && html`<i>${type}</i>`}`
    return html`<dt>${listText(name, 100)}</dt>
      <dd>${typed}</dd>`
  })
  const rest = params.length - namesMax
  return html`<dl>${items}${rest > 0 ? html`<dt class="note">${rest} more</dt>` : undefined}</dl>`
}

interface ColumnOptions {
  /** Objects become nested lists so many levels deep; deeper ones are shown as JSON. */
  depth?: number
  /** Returns the link of a short value that is no object. */
  hrefOf?: ((path: string, value: string) => string | undefined) | undefined
}

export function columnList(
  columns: Record<string, unknown>,
  { depth = 2, hrefOf }: ColumnOptions = {},
): Html {
  const entries = Object.entries(columns)
  const shown = entries.slice(0, columnsMax).filter(([, value]) => !isEmpty(value))
  const pairs = shown.map(([name, value]): [Html, Html] => {
    const inner = hrefOf && ((path: string, one: string) => hrefOf(`${name}.${path}`, one))
    const printed = printValue(value)
    const isLinked =
      typeof value !== 'object' && !printed.includes('\n') && printed.length <= columnLinkMax
    const content = valueOf(value, { depth, hrefOf: inner })
    const href = isLinked ? hrefOf?.(name, printed) : undefined
    return [clientText(name, 300), href ? html`<a href="${href}">${content}</a>` : content]
  })
  const rest = entries.length - columnsMax
  return html`${facts(pairs)}${mute(rest > 0 && `${rest} more`)}`
}
/** A client can send any number of unknown names. */
const columnsMax = 200
const columnLinkMax = 200

export function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function valueOf(value: unknown, { depth = 0, hrefOf }: ColumnOptions): Html {
  // A text of several lines, such as a stack trace, keeps its lines.
  if (typeof value === 'string')
    return value.includes('\n') ? html`<pre>${clientText(value)}</pre>` : clientText(value)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && depth > 0)
    return columnList(value as Record<string, unknown>, { depth: depth - 1, hrefOf })
  return html`<span class="json">${clientText(printLossless(value))}</span>`
}
