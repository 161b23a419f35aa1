import { Type } from 'typebox'
import { compileCheck } from './validate.ts'

const day = String.raw`(?:19[7-9]|2[01]\d)\d-\d\d-\d\d`

const dateSchema = Type.String({ format: 'date', pattern: `^${day}$` })
const timestampSchema = Type.String({
  format: 'date-time',
  pattern: String.raw`^${day}T\d\d:\d\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$`,
})

/** Every month has the days 1 to 28, so no calendar is needed, which takes four times as long. */
const anyMonthsDay = String.raw`(?:19[7-9]|2[01]\d)\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])`
const simpleDate = new RegExp(`^${anyMonthsDay}$`)
const simpleTimestamp = new RegExp(
  String.raw`^${anyMonthsDay}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$`,
)

/** Whether the value is an existing date, as YYYY-MM-DD, from 1970 to 2199. */
export const isDate = either(simpleDate, compileCheck(dateSchema))

/** Whether it is an ISO 8601 timestamp with `Z` or an offset such as `+01:00`, 1970 to 2199. */
export const isTimestamp = either(simpleTimestamp, compileCheck(timestampSchema))

function either(simple: RegExp, check: (value: unknown) => value is string) {
  return (value: unknown): value is string =>
    (typeof value === 'string' && simple.test(value)) || check(value)
}
