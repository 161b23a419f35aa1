import { randomBytes } from 'node:crypto'

/** A lone surrogate as `JSON.stringify` prints it, or a number too long for 64 bits. */
const unusual = /\\ud|\d{19}/

/**
 * Prints a row as one line of JSON that ClickHouse takes, whatever the client has put into it:
 * halves of surrogate pairs, which are not Unicode, become U+FFFD, and integers beyond 64 bits are
 * printed with an exponent (the same double; ClickHouse refuses their digits).
 */
export function rowJson(row: object): string {
  const json = JSON.stringify(row)
  return unusual.test(json) ? unusualJson(row) : json
}

const integerMax = 2 ** 63
/** Nobody can guess it, so no text of a client can look like one of these numbers. */
const mark = randomBytes(16).toString('hex')
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

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
