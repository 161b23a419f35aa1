import { randomBytes } from 'node:crypto'

/**
 * Prints a row as one line of JSON that ClickHouse takes, whatever the client has put into it:
 * halves of surrogate pairs, which are not Unicode, become U+FFFD, and integers beyond 64 bits are
 * printed with an exponent (the same double; ClickHouse refuses their digits).
 */
export function rowJson(row: object): string {
  const json = JSON.stringify(row)
  // That is how a half is printed; the letters may also be text, which does no harm.
  return json.includes('\\ud') || hasLargeInteger(row) ? unusualJson(row) : json
}

const integerMax = 2 ** 63
/** Nobody can guess it, so no text of a client can look like one of these numbers. */
const mark = randomBytes(16).toString('hex')
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

function hasLargeInteger(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) >= integerMax
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasLargeInteger)
  for (const name in value)
    if (hasLargeInteger((value as Record<string, unknown>)[name])) return true
  return false
}

function unusualJson(row: object): string {
  const json = JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'number') {
      return Math.abs(value) < integerMax ? value : mark + value.toExponential()
    }
    return isMap(value) ? withWellFormedNames(value) : value
  })
  return json.replace(marked, '$1')
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withWellFormedNames(map: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(map)
  if (names.every((name) => name.isWellFormed())) return map
  return Object.fromEntries(names.map((name) => [name.toWellFormed(), map[name]]))
}
