import { parse, stringify } from 'lossless-json'

/**
 * Parses JSON as `JSON.parse` does, but keeps integers exact: integers beyond the safe range become
 * `bigint`s, or doubles if they are beyond 64 bits and equal a double. Numbers with a fraction or
 * an exponent become doubles.
 *
 * @throws for invalid JSON, and for JSON that is nested thousands of levels deep
 */
export function parseLossless(text: string): unknown {
  return flatten(parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }))
}

/** Prints what `parseLossless` returns, as `JSON.stringify` does, which refuses `bigint`s. */
export const printLossless = (value: unknown): string => stringify(value) ?? 'null'

/** A longer integer is beyond the largest double. Converting it would take quadratic time. */
const lengthMax = 310
const beyondAnyType = 2n ** 1024n

function parseNumber(text: string): number | bigint {
  const value = Number(text)
  if (Number.isSafeInteger(value) || /[.eE]/.test(text)) return value
  if (text.length > lengthMax || !Number.isFinite(value)) return beyondAnyType
  const integer = BigInt(text)
  return isBeyond64Bits(integer) && isSameNumber(value, integer) ? value : integer
}

/** Whether the integer fits neither Int64 nor UInt64. */
export function isBeyond64Bits(integer: bigint): boolean {
  return integer < -(2n ** 63n) || integer >= 2n ** 64n
}

/**
 * Whether the integer equals the double, or is what `JSON.stringify` prints for the double. For
 * example, it prints the double 2^64 as 18446744073709552000, the shortest text that is read as
 * 2^64.
 */
function isSameNumber(value: number, integer: bigint): boolean {
  return BigInt(value) === integer || shortestInteger(value) === integer
}

function shortestInteger(value: number): bigint {
  const [digits = '', exponent] = value.toExponential().split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  return BigInt(whole + fraction.padEnd(Number(exponent), '0'))
}

/**
 * Reduces the memory of the strings in a parsed value. The parser builds a string by adding one
 * character at a time. V8 keeps all the parts until a character is read; then the string becomes 40
 * times smaller.
 */
function flatten(value: unknown): unknown {
  if (typeof value === 'string') value.charCodeAt(0)
  else if (Array.isArray(value)) value.forEach(flatten)
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(flatten)
  return value
}

/** `JSON.parse` of Node 24 and 26 confuses names with an escape with others (nodejs/node#63785). */
export function hasEscapedName(json: string): boolean {
  for (let at = json.indexOf('\\'); at !== -1; at = json.indexOf('\\', at)) {
    at = endOfString(json, at)
    while (whitespace.has(json.charCodeAt(at))) at++
    if (json.charCodeAt(at) === colon) return true
  }
  return false
}

/** `1e16` and `10000000000000000.0` do not count: they are doubles. Arbitrary for invalid JSON. */
export function hasLargeInteger(json: string): boolean {
  let at = 0
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at + 1)
    else if (!isDigit(code)) at++
    else {
      const from = at
      while (isDigit(json.charCodeAt(at))) at++
      if (!isPartOfDouble(json.charCodeAt(at))) {
        if (!isSafe(json, from, at)) return true
      } else {
        while (isPartOfNumber(json.charCodeAt(at))) at++
      }
    }
  }
  return false
}

const isDigit = (code: number) => code >= zero && code <= nine
/** Whether this character after digits makes the number a double: `.`, `e` or `E`. */
const isPartOfDouble = (code: number) => code === dot || (code | 0x20) === letterE
const isPartOfNumber = (code: number) =>
  isDigit(code) || isPartOfDouble(code) || code === plus || code === minus

/** The number of digits of the largest safe integer. */
const safeDigits = 16

function isSafe(json: string, from: number, to: number): boolean {
  return to - from <= safeDigits && Number.isSafeInteger(Number(json.slice(from, to)))
}

/** Returns the position after the string that contains `at`, or the end of the text. */
function endOfString(json: string, at: number): number {
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === quote) return at + 1
    at += code === backslash ? 2 : 1
  }
  return at
}

const quote = '"'.charCodeAt(0)
const zero = '0'.charCodeAt(0)
const nine = '9'.charCodeAt(0)
const dot = '.'.charCodeAt(0)
const plus = '+'.charCodeAt(0)
const minus = '-'.charCodeAt(0)
const letterE = 'e'.charCodeAt(0)
const backslash = '\\'.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const whitespace = new Set(Array.from(' \t\r\n', (char) => char.charCodeAt(0)))
