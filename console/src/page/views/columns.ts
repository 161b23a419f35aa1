import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { facts, mute } from './parts.ts'

interface ColumnOptions {
  /** Objects become nested lists so many levels deep; deeper ones are shown as JSON. */
  depth?: number
  /** Returns the link of a short value that is no object. */
  hrefOf?: ((path: string, value: string) => string) | undefined
}

export function columnList(
  columns: Record<string, unknown>,
  { depth = 2, hrefOf }: ColumnOptions = {},
): Html {
  const entries = Object.entries(columns)
  const shown = entries.slice(0, namesMax).filter(([, value]) => !isEmpty(value))
  const pairs = shown.map(([name, value]): [Html, Html] => {
    const inner = hrefOf && ((path: string, one: string) => hrefOf(`${name}.${path}`, one))
    const printed = typeof value === 'string' ? value : printJson(value)
    const isLinked =
      typeof value !== 'object' && !printed.includes('\n') && printed.length <= linkedMax
    const content = valueOf(value, { depth, hrefOf: inner })
    const linked = hrefOf && isLinked && html`<a href="${hrefOf(name, printed)}">${content}</a>`
    return [clientText(name, 300), linked || content]
  })
  const rest = entries.length - namesMax
  return html`${facts(pairs)}${mute(rest > 0 && `${rest} more`)}`
}
/** The maximum number of names that are shown. A client can send any number of unknown names. */
const namesMax = 200
const linkedMax = 200

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
