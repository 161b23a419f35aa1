import { randomBytes } from 'node:crypto'
import { isTextArray, isUnlikeArray } from './text-array.ts'

/** Prints part of a row as JSON that ClickHouse accepts. */
export type PrintJson = (values: object) => string

/**
 * Prints a row as one line of JSON that ClickHouse accepts, for any input. Lone surrogates, which
 * are not valid Unicode, become U+FFFD. A `bigint` is printed with all its digits, and a double
 * beyond the safe integers with an exponent, so that ClickHouse reads a double. An array that
 * ClickHouse would change is printed as a string that contains its JSON.
 */
export const rowJson: PrintJson = (row) => {
  if (isUnusual(row)) return unusualJson(row)
  const json = JSON.stringify(row)
  return json.includes(escapedSurrogate) ? unusualJson(row) : json
}

/** How JSON prints a lone surrogate. A text that has these letters matches too: no harm. */
export const escapedSurrogate = '\\ud'

/**
 * Marks a number that is first printed as a string; its quotes and the mark are removed afterwards.
 * The mark is random, so that no text of a client can contain it.
 */
const mark = randomBytes(16).toString('hex')
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

/** Whether the row has a large number, or an array that is stored as text. */
function isUnusual(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint'
  if (Array.isArray(value)) {
    // ClickHouse changes an array of any other kind only if the array contains a large number.
    return isUnlikeArray(value) || value.some(isUnusualElement)
  }
  for (const name in value) if (isUnusual((value as Record<string, unknown>)[name])) return true
  return false
}

/**
 * The outer array was examined together with its nested arrays; only their elements are checked.
 */
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

/** Replaces lone surrogates by U+FFFD in a text, or in the names of a map, not in its values. */
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
