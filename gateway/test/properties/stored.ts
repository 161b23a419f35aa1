import { isDeepStrictEqual } from 'node:util'
import type { RecordKind } from '@intake/contract'
import { parseLossless } from '@intake/json'
import { linesOf, type TestGateway } from '../support.ts'

export type Row = Record<string, unknown>

/**
 * Settings with a small budget of bytes in flight. If one kind of request does not release its
 * bytes, a few thousand requests use up the budget.
 */
export const smallBudget = {
  BATCH_BODY_BYTES_MAX: '20000',
  ATTACHMENT_BYTES_MAX: '5000',
  BYTES_IN_FLIGHT_MAX: '50000000',
}

/** Removes and returns the rows stored since the last call. */
export function takeRows(gateway: TestGateway, kind: RecordKind): Row[] {
  const lines = gateway.frames[kind].splice(0).flatMap(linesOf)
  return lines.map((line) => parseLossless(line) as Row)
}

export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isStoredAs(actual, expected)) throw new Error('stored is not what was sent')
}

/** Like `isDeepStrictEqual`, except that an array may be stored as its JSON. */
function isStoredAs(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    if (typeof actual === 'string') {
      return isDeepStrictEqual(parseLossless(actual), expected)
    }
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => isStoredAs(actual[index], item))
    )
  }
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object') {
    return isDeepStrictEqual(actual, expected)
  }
  const names = Object.keys(expected)
  return (
    actual !== null &&
    isDeepStrictEqual(names.toSorted(), Object.keys(actual).toSorted()) &&
    names.every((name) => isStoredAs((actual as Row)[name], (expected as Row)[name]))
  )
}

/** Replaces lone surrogates by U+FFFD and -0 by 0, as the gateway does. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([name, item]) => [name.toWellFormed(), wellFormed(item)]))
}
