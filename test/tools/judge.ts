import type { Test } from 'tap'

/**
 * Clear errors about JSON columns, which are better than wrong values: that of clickhouse-connect,
 * and that of clickhouse-jdbc 0.9.4 without the properties of docs/connect.md.
 */
const refusal =
  /DataError\W+Unrecognized json structure version: 1 |Failed to read value for column (?:params|extra|device_extra)\b/

/** What may be refused: JSON columns, read by these drivers without what docs/connect.md names. */
const refusable =
  /^(?:logs|feedback)(?:\.[^,]+)?, (?:query|query_df|sqlalchemy|sqlalchemy_rows|plain)$/

/** The value of `params.big` of the event `big`. JavaScript would round it. */
export const bigInteger = '9007199254740993'

/** The time of the event `noon`. */
export const noonMs = new Date().setUTCHours(0, 0, 0, 0) - 12 * 3_600_000

/** A line that a tool printed. */
export interface Line {
  versions?: string[]
  check: string
  rows?: number
  /** A JSON value as the tool shows it, and the text that is right. */
  pairs?: [got: string, want: string][]
  value?: string | number | boolean
  found?: number
  offset?: number
  error?: string
}

/** Compares what a tool got with what is right. */
export function judge(t: Test, { check, rows, pairs, value, found, offset, error }: Line) {
  if (error !== undefined) {
    t.match(check, refusable, error)
    t.match(error, refusal, check)
  } else if (rows !== undefined) t.ok(rows > 0 || /dead_letters|drift/.test(check), check)
  else if (pairs !== undefined) {
    const wrong = pairs.filter(([got, want]) => normal(got) !== normal(want))
    t.same(wrong.slice(0, 3), [], `${check}: ${wrong.length} of ${pairs.length} are wrong`)
  } else if (check === 'a big integer') t.equal(String(value), bigInteger)
  else if (check === 'a time') {
    t.equal(Date.parse(String(value)), noonMs)
    t.equal(found, 1, 'a time that was read finds its row')
    t.ok(offset !== undefined && offset > 0, 'the zone is not UTC')
  } else if (check === 'cancel') t.equal(value, true, check)
  else t.equal(Number(value), 1, check)
}

/** Prints a JSON text so that equal values have the same text. Text of numbers counts as numbers. */
function normal(text: string): string {
  const exact = text.replaceAll(/(?<=[:[,])-?\d{16,}(?=[,\]}])/g, '"$&"')
  const value: unknown = JSON.parse(exact, (_, one: unknown) =>
    typeof one === 'number' ? String(one) : isRecord(one) ? sorted(one) : one,
  )
  return JSON.stringify(value)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sorted = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
