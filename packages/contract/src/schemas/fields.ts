import { Type, type TUnsafe } from 'typebox'
import { limits } from '../limits.ts'
import { uuidPattern } from '../uuid.ts'

/** A required identifier: 1 to 255 characters. */
export const identifier = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.identifierLength, description })

export const deviceUuid = Type.String({
  pattern: uuidPattern,
  description: 'Identifies the device.',
})

/**
 * An e-mail address, including internationalised ones: a local part, quoted if it contains spaces, and
 * a domain of labels separated by dots. The `idn-email` format rejects domains with combining marks, as
 * in Hindi and Thai; and only delivery can tell whether an address exists.
 */
export const emailPattern = String.raw`^(?:[^\s\p{Cc}\p{Cs}"(),:;<>@]+|"[^\p{Cc}\p{Cs}"]+")@[^\s\p{Cc}\p{Cs}"(),;<>@.]+(?:\.[^\s\p{Cc}\p{Cs}"(),;<>@.]+)*$`

export const datePattern = '^(19[7-9]|2[01]\\d)\\d-\\d\\d-\\d\\d$'

const timestampPattern =
  '^(19[7-9]|2[01]\\d)\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$'

const aTimestamp =
  'must be an ISO 8601 timestamp from 1970 to 2199, such as 2026-11-21T06:30:00.250Z or ...+01:00'
const aDate = 'must be a date from 1970 to 2199, as YYYY-MM-DD'

/** The error text for a value that does not match, by its `pattern` or `format`. */
export const expectations: ReadonlyMap<string, string> = new Map([
  [uuidPattern, 'must be a UUID'],
  [emailPattern, 'must be an e-mail address'],
  [timestampPattern, aTimestamp],
  ['date-time', aTimestamp],
  [datePattern, aDate],
  ['date', aDate],
])

/** An optional field for which `null` means absent. */
export const nullable = <T>(
  type: string,
  options: Record<string, unknown> = {},
): TUnsafe<T | null> => Type.Unsafe<T | null>({ type: [type, 'null'], ...options })

const timestampForm =
  'ISO 8601 timestamp with `Z` or an offset such as `+01:00`, 1970 to 2199; kept in UTC with milliseconds.'

/** A timestamp as clients send it. */
export const timestampOf = (description: string) =>
  nullable<string>('string', {
    format: 'date-time',
    pattern: timestampPattern,
    description: `${description} ${timestampForm}`.trim(),
  })

export const timestamp = timestampOf('')
