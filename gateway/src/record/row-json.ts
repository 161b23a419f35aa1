import { randomBytes } from 'node:crypto'

/**
 * Prints a row as one line of JSON that ClickHouse accepts, whatever the client sent. Lone surrogates,
 * which are not valid Unicode, become U+FFFD. A `bigint` is printed with all its digits; a double
 * beyond the safe integers with an exponent, so that ClickHouse reads a double.
 */
export function rowJson(row: object): string {
  if (hasLargeNumber(row)) return unusualJson(row)
  const json = JSON.stringify(row)
  // A lone surrogate is printed like this. Text may contain the same letters, which does no harm.
  return json.includes('\\ud') ? unusualJson(row) : json
}

/** Random, so that no text of a client can look like one of these numbers. */
const mark = randomBytes(16).toString('hex')
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint'
  if (Array.isArray(value)) return value.some(hasLargeNumber)
  for (const name in value)
    if (hasLargeNumber((value as Record<string, unknown>)[name])) return true
  return false
}

function unusualJson(row: object): string {
  const json = JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'bigint') return mark + value.toString()
    if (typeof value === 'number') {
      return Math.abs(value) > Number.MAX_SAFE_INTEGER ? mark + value.toExponential() : value
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
