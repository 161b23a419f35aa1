import { fingerprint } from './fingerprint.ts'

/**
 * Returns SQL that prints a JSON value as text that ClickHouse's own functions can read. These
 * functions refuse a whole document if it has an integer that neither Int64 nor UInt64 can hold.
 * ClickHouse prints doubles from 2^64 to 1e21 as such integers. The SQL adds an exponent to these
 * integers, so that they are read as doubles. For this it splits a document into texts, numbers and
 * the rest. It does so only if the document has 19 digits in a row, which is rare.
 */
export const jsonText = (value: string): string =>
  `if(match(toJSONString(${value}), '[0-9]{19}'), ` +
  `arrayStringConcat(arrayMap(token -> if(match(token, '^-?[0-9]{19,}$') ` +
  `AND (length(token), token) > (20, if(startsWith(token, '-'), '-9223372036854775808', '18446744073709551615')), ` +
  `concat(token, 'e0'), token), extractAll(toJSONString(${value}), '${tokens}'))), toJSONString(${value}))`

const tokens = String.raw`(?s)"(?:[^"\\\\]|\\\\.)*"|-?[0-9][0-9.eE+-]*|[^"0-9-]+`

/** SQL that reads a state of devices, which is hexadecimal digits. */
export const deviceState = (state: string): string =>
  `CAST(unhex(${state}), 'AggregateFunction(uniqCombined64(12), UUID)')`

/**
 * Functions that read a param in all forms in which it may have been sent. A client may send the
 * same param as 10, 10.5, "10", true or null, and each value is stored as it was sent. For a param
 * that is absent or cannot be read the functions return NULL.
 */
export const functionStatements: readonly string[] = [
  `CREATE OR REPLACE FUNCTION intake_json AS (value) -> ${jsonText('value')}`,
  // `toFloat64OrNull` reads texts like "nan" and "1e400" as numbers that are not finite.
  `CREATE OR REPLACE FUNCTION intake_number AS (value) ->
  if(isFinite(toFloat64OrNull(toString(value))), toFloat64OrNull(toString(value)), NULL)`,
  `CREATE OR REPLACE FUNCTION intake_text AS (value) ->
  multiIf(
    isNull(value), NULL,
    startsWith(dynamicType(value::Dynamic), 'Array'), ${jsonText('value')},
    toString(value))`,
  `CREATE OR REPLACE FUNCTION intake_bool AS (value) ->
  transform(
    lower(toString(value)),
    ['true', '1', 'false', '0'], [true, true, false, false]::Array(Nullable(Bool)), NULL)`,
  // An aggregate function of `devices_state` of intake.device_hours.
  `CREATE OR REPLACE FUNCTION intake_devices AS (state) -> uniqCombined64Merge(12)(${deviceState('state')})`,
  // Of a stack trace.
  `CREATE OR REPLACE FUNCTION intake_fingerprint AS (text) -> if(isNull(text), NULL, ${fingerprint('text')})`,
]
