import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

/** A JSON document and its value. */
export interface JsonText {
  text: string
  value: unknown
}

const blank = fc.constantFrom('', '', '', ' ', '\n', '\t\r\n ')

const character = fc.oneof(
  fc.constantFrom(...Array.from('ab"\\/\n\u0000:,{]é語😀 ')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
)

const shortEscapes: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\n': '\\n',
}
const escaped = (char: string) =>
  Array.from(
    { length: char.length },
    (_, n) => `\\u${char.charCodeAt(n).toString(16).padStart(4, '0')}`,
  ).join('')

/** A string with some unnecessarily escaped characters. */
const string: Arbitrary<{ text: string; value: string }> = fc
  .array(fc.tuple(character, fc.nat(3)), { maxLength: 6 })
  .map((characters) => ({
    value: characters.map(([char]) => char).join(''),
    text: `"${characters
      .map(([char, style]) => {
        if (style === 0) return escaped(char)
        const plain = JSON.stringify(char).slice(1, -1)
        return style === 1 || plain !== char ? (shortEscapes[char] ?? plain) : char
      })
      .join('')}"`,
  }))

const integer = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
    fc.bigInt({ min: -9n, max: 9n }),
  )
  .map((value): JsonText => {
    const isSafe = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    return { text: value.toString(), value: isSafe ? Number(value) : value }
  })

const double = fc
  .tuple(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom('', '0', '000000000000000000001'),
  )
  .map(([number, digits]): JsonText => {
    const text = number.toExponential()
    const longer = text.includes('.') ? text.replace('e', `${digits}e`) : text
    return { text: longer, value: Number(longer) }
  })

const scalar: Arbitrary<JsonText> = fc.oneof(
  string,
  integer,
  double,
  fc.constantFrom(...[null, true, false].map((value) => ({ text: String(value), value }))),
)

const names = fc.oneof(
  string,
  fc.constantFrom('a', '__proto__', 'constructor', '', '0', 'logs').map((value) => ({
    text: JSON.stringify(value),
    value,
  })),
  fc.constant({ text: String.raw`"\u005f_proto__"`, value: '__proto__' }),
)

export const jsonText: Arbitrary<JsonText> = fc.letrec<{ any: JsonText }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(fc.tuple(tie('any'), blank), { maxLength: 5 }).map((items) => ({
      text: `[${items.map(([item, space]) => space + item.text + space).join(',')}]`,
      value: items.map(([item]) => item.value),
    })),
    fc
      .uniqueArray(fc.tuple(names, tie('any'), blank, fc.option(scalar, { freq: 8 })), {
        maxLength: 5,
        selector: ([name]) => name.value,
      })
      .map((members) => object(members)),
  ),
})).any

/**
 * Creates a JSON object of these members. A member with an `earlier` value appears twice; the last
 * value counts.
 */
function object(
  members: [
    name: { text: string; value: string },
    value: JsonText,
    space: string,
    earlier: JsonText | null,
  ][],
): JsonText {
  const value = {}
  const texts = members.map(([name, inner, space, earlier]) => {
    const own = { value: inner.value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(value, name.value, own)
    const twice = earlier === null ? '' : `${name.text}:${earlier.text},`
    return `${twice}${space}${name.text}${space}:${space}${inner.text}${space}`
  })
  return { text: `{${texts.join(',')}}`, value }
}
