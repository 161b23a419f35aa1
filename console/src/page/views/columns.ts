import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'

/**
 * The columns of a record as a list of names and values. Objects become nested lists, two levels
 * deep; deeper objects are shown as JSON.
 */
export function columnList(columns: Record<string, unknown>, depth = 2): Html {
  const entries = Object.entries(columns)
  const shown = entries.slice(0, namesMax).filter(([, value]) => !isEmpty(value))
  const items = shown.map(
    ([name, value]) =>
      html`<dt>${clientText(name, 300)}</dt>
        <dd>${valueOf(value, depth)}</dd> `,
  )
  const rest = entries.length - namesMax
  return html`<dl>
    ${items}${
      rest > 0
        ? html`<dt class="note">${rest} more</dt>
            <dd></dd>`
        : undefined
    }
  </dl>`
}
/** The maximum number of names that are shown. A client can send any number of unknown names. */
const namesMax = 200

/** Whether a value is left out of a list. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function valueOf(value: unknown, depth: number): Html {
  if (typeof value === 'string') return clientText(value)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && depth > 0) return columnList(value as Record<string, unknown>, depth - 1)
  return html`<span class="json">${clientText(printJson(value))}</span>`
}

/** Prints JSON with `bigint`s, which `JSON.stringify` refuses. */
export function printJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}:${printJson(inner)}`,
  )
  return `{${members.join(',')}}`
}
