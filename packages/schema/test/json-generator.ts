export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = Record<string, Json>

// oxfmt-ignore
const keys = [
  'a', 'b', 'c', 'A', 'a.b', 'a.b.c', '.', '..', '.a', 'a.', '', ' ', 'x y', 'é', '😀', '\0',
  '__proto__', 'constructor', 'toString', '"', '`', '\\', '\n', 'a:Int64', 'a[]', '^a', '%2',
  'null', '0', '-1', '@x', 'a/b', 'size0', 'values', 'Int64', '\u2028', '\ufeff',
]
// oxfmt-ignore
const strings = [
  '', 'x', '2026-01-01', '2026-01-01T00:00:00.000Z', '1', '0.5', 'true', 'null', 'NaN', '{}',
  '[]', '\0', '"', '\\', '\n', '😀', '\u2028', '127.0.0.1', 'x'.repeat(5_000),
]
// oxfmt-ignore
const numbers = [
  0, 1, -1, 0.1, -0.5, 1e-7, 5e-324, 1e21, -1e300, Number.MAX_VALUE, 0.30000000000000004, 255,
  65_536, 2 ** 53, 2 ** 53 + 2, -(2 ** 62), 2 ** 63, 2 ** 64 - 2048, 123456789.12345679,
]

/**
 * Creates a generator of random objects. The same seed gives the same objects. They cover
 * everything that `JSON.stringify` can print if all strings are well-formed, with two exceptions:
 * keys with `%2E`, and integers that are printed without an exponent but are too large for 64 bits.
 */
export const jsonGenerator = (seed: number) => {
  let state = seed
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const scalars: readonly (() => Json)[] = [
    () => pick(strings),
    () => pick(numbers),
    () => below(2) === 0,
    () => null,
  ]
  const list = <T>(make: () => T) => Array.from({ length: below(5) }, make)

  const value = (depth: number): Json => {
    const kind = depth <= 0 ? 0 : below(6)
    if (kind < 3) return pick(scalars)()
    if (kind === 3) return object(depth - 1)
    if (kind === 4) return list(pick(scalars))
    return list(() => value(depth - 1))
  }
  const object = (depth: number): JsonObject => {
    const made = Object.create(null) as JsonObject
    for (const key of list(() => pick(keys))) made[key] = value(depth)
    return made
  }
  return { object: () => object(below(6)) }
}

/**
 * Reduces a value to the information that a JSON column keeps. In objects, the column drops members
 * whose value is `null` or an empty object. In arrays, it may replace `null`, `[]` and `{}` by each
 * other.
 */
export const normalForm = (value: Json): Json => {
  if (Array.isArray(value)) {
    return value.map(normalForm).map((item) => (isEmpty(item) ? null : item))
  }
  if (value === null || typeof value !== 'object') return value
  const kept = Object.create(null) as JsonObject
  for (const key of Object.keys(value).toSorted()) {
    const item = normalForm(value[key] as Json)
    if (item !== null && !(isEmpty(item) && !Array.isArray(item))) kept[key] = item
  }
  return kept
}

/**
 * Parses a document whose names may contain escapes. `JSON.parse` of Node 24 and 26 can take such a
 * name for another one (nodejs/node#63785). So each name is parsed separately, as a string value.
 */
export const parseJson = (json: string): Json => {
  const names: string[] = []
  const plain = json.replaceAll(
    /("(?:[^"\\]|\\.)*")(:?)/g,
    (found, name: string, colon: string) => {
      if (colon === '' || !name.includes('\\')) return found
      return `"<name ${names.push(JSON.parse(name) as string) - 1}>":`
    },
  )
  const rename = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(rename)
    if (value === null || typeof value !== 'object') return value
    const renamed = Object.create(null) as JsonObject
    for (const [key, inner] of Object.entries(value)) {
      const [, index] = /^<name (\d+)>$/.exec(key) ?? []
      renamed[index === undefined ? key : (names[Number(index)] as string)] = rename(inner)
    }
    return renamed
  }
  return rename(JSON.parse(plain) as Json)
}

const isEmpty = (value: Json) =>
  value !== null && typeof value === 'object' && Object.keys(value).length === 0
