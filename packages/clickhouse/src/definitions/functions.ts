/**
 * The SQL of a JSON value as text that ClickHouse's own functions can read. They refuse a whole
 * document if it has an integer that neither Int64 nor UInt64 holds, and ClickHouse prints doubles
 * from 2^64 to 1e21 as such digits. With an exponent they are doubles again. Few documents have so
 * many digits in a row; only they are split into texts, numbers and all else.
 */
export const jsonText = (value: string): string =>
  `if(match(toJSONString(${value}), '[0-9]{19}'), ` +
  `arrayStringConcat(arrayMap(token -> if(match(token, '^-?[0-9]{19,}$') ` +
  `AND (length(token), token) > (20, if(startsWith(token, '-'), '-9223372036854775808', '18446744073709551615')), ` +
  `concat(token, 'e0'), token), extractAll(toJSONString(${value}), '${tokens}'))), toJSONString(${value}))`

const tokens = String.raw`(?s)"(?:[^"\\\\]|\\\\.)*"|-?[0-9][0-9.eE+-]*|[^"0-9-]+`

/**
 * A client may send the same param as 10, 10.5, "10", true or null, and each is stored as it was sent.
 * These functions read any of them; what cannot be read is NULL, and so is a param that is absent.
 */
export const functionStatements: readonly string[] = [
  `CREATE OR REPLACE FUNCTION intake_json AS (value) -> ${jsonText('value')}`,
  // Text like "nan" and "1e400" is not finite.
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
]
