/**
 * SQL for the warnings about the texts in `params`: tuples of code and path. The path is that of a
 * param or of a member of a param. The warnings contain no values.
 */

/** The end of the name of a picture such as `icon@2x.png`, which is no e-mail address. */
const pictureScale = String.raw`@[0-9.]+x\\.(?:png|jpe?g|gif|webp|avif|heic|svg|pdf)\\b`

const address = String.raw`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,}`

/** 13 to 19 digits that begin like the number of a payment card. */
const cardDigits = String.raw`(?:^|[^0-9.])((?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|3[47][0-9]{2}|6011|65[0-9]{2})(?:[ -]?[0-9]){9,15})(?:[^0-9.]|$)`

const isSuspiciousText = String.raw`match(toJSONString(params), '"\\[|@|[0-9](?:[ -]?[0-9]){12}')`
/**
 * SQL for whether a row may get a warning. It examines each value; `isSuspiciousText` prints the
 * whole document and examines its text. From ClickHouse 26.4 on, printing takes 60 µs for a row
 * with ten params (https://github.com/ClickHouse/ClickHouse/issues/115796), but reading the values
 * takes 4 µs. Names are examined too, because the text of a member that is an object contains
 * names.
 */
const isSuspiciousValue = `(arrayExists(
        (value, type) -> match(value, '@|${cardDigits}')
          OR (type = 'String' AND startsWith(value, '[') AND endsWith(value, ']')),
        JSONAllValues(params), mapValues(JSONAllPathsWithTypes(params)))
      OR arrayExists(path -> match(path, '@|[0-9](?:[ -]?[0-9]){12}'), JSONAllPaths(params)))`

/** SQL for whether a text of digits has the right check digit (Luhn). */
const hasCheckDigit = (digits: string) => {
  const reversed = `arrayMap(digit -> toInt32OrZero(digit), splitByString('', reverse(${digits})))`
  return `arraySum(arrayMap(
        (digit, place) -> if(place % 2 = 1, digit, if(digit > 4, 2 * digit - 9, 2 * digit)),
        ${reversed}, arrayEnumerate(${reversed}))) % 10 = 0`
}

const isCard = `arrayExists(
        digits -> ${hasCheckDigit("replaceRegexpAll(digits, '[ -]', '')")}, extractAll(member.2, '${cardDigits}'))`

/** SQL for a name in a path. A dot in it becomes `%2E`, as in ClickHouse's paths. */
const escaped = (name: string) => `replaceAll(${name}, '.', '%2E')`

const members = `arrayFlatten(arrayMap(
        member -> if(startsWith(member.2, '{'),
          arrayMap(inner -> (concat(${escaped('member.1')}, '.', ${escaped('inner.1')}), inner.2), JSONExtractKeysAndValuesRaw(member.2)),
          [(${escaped('member.1')}, member.2)]),
        JSONExtractKeysAndValuesRaw(intake_json(params))))`

/** Searches only rows that may get a warning. `JSONAllValues` exists from 26.4 on. */
export const textWarnings = (
  hasAllValues: boolean,
) => `if(${hasAllValues ? isSuspiciousValue : isSuspiciousText}, arrayFlatten(arrayMap(
        member -> arrayConcat(
          if(startsWith(member.2, '"[') AND endsWith(member.2, ']"') AND isValidJSON(JSONExtractString(member.2)),
            [('array_as_text', member.1)], []),
          if(match(replaceRegexpAll(member.2, '${pictureScale}', ''), '${address}'), [('email', member.1)], []),
          if(${isCard}, [('card', member.1)], [])),
        ${members})), [])`
