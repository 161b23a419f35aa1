import { randomBytes } from 'node:crypto'
import { isMixedArray } from './mixed-array.ts'
import { isTextArray, losesNull } from './text-array.ts'

/**
 * Prints a row as one line of JSON that ClickHouse accepts, whatever the client sent. Lone
 * surrogates, which are not valid Unicode, become U+FFFD. A `bigint` is printed with all its
 * digits; a double beyond the safe integers with an exponent, so that ClickHouse reads a double. An
 * array that ClickHouse would not keep becomes a string, its JSON.
 *
 * @param isPlain the parser has found no such number and no such array in it
 */
export function rowJson(row: object, isPlain = false): string {
  if (!isPlain && isUnusual(row)) return unusualJson(row)
  const json = JSON.stringify(row)
  return mayHaveLoneSurrogate(json) ? unusualJson(row) : json
}

/** A lone surrogate is printed like this. Text may contain the same letters, which does no harm. */
export const mayHaveLoneSurrogate = (json: string): boolean => json.includes('\\ud')

/** Random, so that no text of a client can look like one of these numbers. */
const mark = randomBytes(16).toString('hex')
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

/** Whether the row has a large number, or an array that is stored as text. */
function isUnusual(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint'
  if (Array.isArray(value)) {
    // Only large numbers can be lost otherwise.
    return isMixedArray(value) || losesNull(value) || value.some(isUnusualElement)
  }
  for (const name in value) if (isUnusual((value as Record<string, unknown>)[name])) return true
  return false
}

/** An array in an array is part of it, and is not examined again. */
function isUnusualElement(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isUnusualElement) : isUnusual(value)
}

function unusualJson(row: object): string {
  return exactJson(row, (value, parent) =>
    Array.isArray(value) && !Array.isArray(parent) && isTextArray(value) ? exactJson(value) : value,
  )
}

/** @param change applied to each value before it is printed */
function exactJson(
  value: unknown,
  change: (inner: unknown, parent: unknown) => unknown = (inner) => inner,
): string {
  const json = JSON.stringify(value, function (this: unknown, _, inner: unknown) {
    return printable(change(inner, this))
  })
  return json.replace(marked, '$1')
}

function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return mark + value.toString()
  if (typeof value === 'number') {
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? mark + value.toExponential() : value
  }
  return wellFormed(value)
}

/** A text, or the names of a map, with U+FFFD instead of lone surrogates; anything else as it is. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  return isMap(value) ? withWellFormedNames(value) : value
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withWellFormedNames(map: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(map)
  if (names.every((name) => name.isWellFormed())) return map
  return Object.fromEntries(names.map((name) => [name.toWellFormed(), map[name]]))
}
