import { Type } from 'typebox'
import { compileCheck } from './validate.ts'

const day = String.raw`(19[7-9]|2[01]\d)\d-\d\d-\d\d`

/** Whether the value is an existing date, as YYYY-MM-DD, from 1970 to 2199. */
export const isDate = compileCheck(Type.String({ format: 'date', pattern: `^${day}$` }))

/**
 * Whether the value is an ISO 8601 timestamp with `Z` or an offset such as `+01:00`, from 1970 to
 * 2199.
 */
export const isTimestamp = compileCheck(
  Type.String({
    format: 'date-time',
    pattern: String.raw`^${day}T\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`,
  }),
)
