/**
 * A client may send the same param as 10, 10.5, "10", true or null, and each is stored as it was sent.
 * These functions read any of them; what cannot be read is NULL, and so is a param that is absent.
 */
export const functionStatements: readonly string[] = [
  // Text like "nan" and "1e400" is not finite.
  `CREATE OR REPLACE FUNCTION intake_number AS (value) ->
  if(isFinite(toFloat64OrNull(toString(value))), toFloat64OrNull(toString(value)), NULL)`,
  `CREATE OR REPLACE FUNCTION intake_text AS (value) ->
  multiIf(
    isNull(value), NULL,
    startsWith(dynamicType(value::Dynamic), 'Array'), toJSONString(value),
    toString(value))`,
  `CREATE OR REPLACE FUNCTION intake_bool AS (value) ->
  transform(
    lower(toString(value)),
    ['true', '1', 'false', '0'], [true, true, false, false]::Array(Nullable(Bool)), NULL)`,
]
