import { clientText } from '../client-text.ts'
import { parseExact } from '../find-records.ts'
import { html, type Html } from '../html.ts'
import { printJson } from './columns.ts'

const namesMax = 12

type Params = [name: string, value: unknown][]

/** The params of a summary; undefined if only the beginning of a longer text is there. */
function parseParams(start: string): Params | undefined {
  try {
    return Object.entries(parseExact(start) as object)
  } catch {
    return undefined
  }
}

const shown = (value: unknown) => (typeof value === 'string' ? value : printJson(value))

/** The type of a value, shown because `12` may be a text too; undefined for texts. */
function typeOf(value: unknown): string | undefined {
  if (typeof value === 'string' || value === null) return undefined
  if (Array.isArray(value)) return 'list'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/**
 * Params with the types of those that are not texts. The style sheet shows them in one line or, in an
 * open row, one below the other, so that a document contains them once.
 */
export function paramList(start: string): Html {
  const params = parseParams(start)
  if (params === undefined) return clientText(start)
  if (params.length === 0) return html`<small>No params.</small>`
  const items = params.slice(0, namesMax).map(([name, value]) => {
    const type = typeOf(value)
    const typed = html`${clientText(shown(value), 600)}${type && html`<i>${type}</i>`}`
    return html`<dt>${clientText(name, 100)}</dt>
      <dd>${typed}</dd>`
  })
  const rest = params.length - namesMax
  return html`<dl>${items}${rest > 0 ? html`<dt class="note">${rest} more</dt>` : undefined}</dl>`
}
