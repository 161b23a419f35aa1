import { clientText } from '../client-text.ts'
import { parseExact } from '../find-records.ts'
import { html, type Html } from '../html.ts'
import { printJson } from './columns.ts'

const namesMax = 12
const valueLength = 120

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

/** Params in one line: `amount=12 currency=EUR`. */
export function paramLine(start: string): Html {
  const params = parseParams(start)
  if (params === undefined) return clientText(start, 300)
  return html`${params.slice(0, namesMax).map(([name, value]) => html`${clientText(name, 60)}=<b>${clientText(shown(value), valueLength)}</b> `)}`
}

const typeOf = (value: unknown): string => {
  if (typeof value === 'string') return 'text'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/** Params with their types, one below the other. */
export function paramList(start: string): Html {
  const params = parseParams(start)
  if (params === undefined) return html`<pre>${clientText(start)}</pre>`
  if (params.length === 0) return html`<p class="mute">No params.</p>`
  const items = params.slice(0, namesMax).map(
    ([name, value]) =>
      html`<dt>${clientText(name, 100)}</dt>
        <dd>${clientText(shown(value), 600)} <span class="mute">${typeOf(value)}</span></dd>`,
  )
  return html`<dl>${items}</dl>`
}
