import { isUtf8 } from 'node:buffer'
import { IntakeError, limits } from '@intake/contract'
import { countNodes, tooManyNodes } from './count-nodes.ts'
import { isUnlikeArray } from './text-array.ts'
import { hasEscapedName, hasLargeInteger, parseLossless } from './lossless-json.ts'
import { describeSyntaxError } from './syntax-error.ts'

/** Parsing a document of up to this size takes at most a millisecond, even in the worst case. */
export const smallJsonBytes = 8 * 1024

/**
 * A document of up to this size is parsed before its members are counted and its memory is charged.
 * Until then, it takes at most 20 MB that are not charged. Only one document is parsed at a time.
 */
export const countedLaterBytes = 256 * 1024

export interface ParsedJson {
  value: unknown
  bytes: number
  /**
   * True if nothing in the document needs further checks, and `JSON.stringify` prints each of its
   * values as `rowJson` would: it is not too deep, every number is a double or a safe integer, no
   * array is stored as text, and no text has a lone surrogate. It may be false although all this is
   * so.
   */
  isPlain: boolean
  /** The number of members and elements in the document. */
  nodes: number
  /** The nodes of the largest value two levels below the root. In a batch it is an entry. */
  entryNodes: number
}

/**
 * Parses a JSON document from the bytes of a request. Integers that a double would round become
 * `bigint`s.
 *
 * @param options.charge called with the memory that the value takes, in bytes; may throw
 * @throws {IntakeError} `invalid_encoding`, `invalid_json`, `body_too_large`
 */
export function parseJson(
  bytes: Buffer,
  options: { nodesMax: number; charge: (bytes: number) => void },
): ParsedJson {
  const text = decodeJson(bytes, options)
  const parsed = parseText(text)
  countParsed(bytes, parsed, options)
  return exactJson(text, parsed, bytes.length)
}

/** Counts and charges a document after it has been parsed, unless `decodeJson` has done so. */
export function countParsed(
  bytes: Buffer,
  { isDeep, nodes: surveyed }: ParsedText,
  { nodesMax, charge }: Parameters<typeof parseJson>[1],
): void {
  if (bytes.length > countedLaterBytes) return
  const nodes = isDeep ? countNodes(bytes, nodesMax) : surveyed
  if (nodes > nodesMax) throw tooManyNodes(nodesMax)
  charge(nodes * limits.jsonNodeBytes)
}

/**
 * Decodes the bytes as UTF-8. Ignores a byte order mark, as RFC 8259 allows. Counts and charges a
 * large document before.
 *
 * @throws {IntakeError} `invalid_encoding`, `body_too_large`
 */
export function decodeJson(
  bytes: Buffer,
  { nodesMax, charge }: Parameters<typeof parseJson>[1],
): string {
  if (bytes.length > countedLaterBytes) {
    charge(countNodes(bytes, nodesMax) * limits.jsonNodeBytes)
  }
  if (!isUtf8(bytes)) throw new IntakeError('invalid_encoding', 'The JSON is not valid UTF-8.')
  return bytes[0] === byteOrderMark[0] && bytes.subarray(0, 3).equals(byteOrderMark)
    ? bytes.toString('utf8', byteOrderMark.length)
    : bytes.toString()
}

/** Only such an escape can give a lone surrogate, because valid UTF-8 has none. */
const escapedSurrogate = /\\u[dD][89a-fA-F]/

const byteOrderMark = Buffer.from('\uFEFF')

export interface ParsedText extends Survey {
  value: unknown
}

/**
 * Parses a text, and examines the value (see `Survey`). Integers in the value may be rounded (see
 * `exactJson`).
 *
 * @throws {IntakeError} `invalid_json`, `body_too_large`
 */
export function parseText(text: string): ParsedText {
  const hasEscapes = text.includes('\\')
  const isExact = hasEscapes && hasEscapedName(text)
  const value = isExact ? parseExact(text) : parse(JSON.parse, text)
  const found = { nodes: 0, entryNodes: 0, isDeep: false, isRounded: false, isOdd: false }
  survey(value, limits.jsonDepth, found, false)
  if (isExact) found.isRounded = false
  if (isExact || (hasEscapes && escapedSurrogate.test(text))) found.isOdd = true
  return { value, ...found }
}

/**
 * Returns the value of a document. Parses the text again if `parseText` may have rounded an
 * integer.
 *
 * @param bytes the size of the document in UTF-8
 * @throws {IntakeError} `body_too_large`; `invalid_json` when it is nested thousands of levels deep
 */
export function exactJson(text: string, parsed: ParsedText, bytes: number): ParsedJson {
  const { value, isDeep, isRounded, isOdd, nodes, entryNodes } = parsed
  if (isRounded && hasLargeInteger(text)) {
    return { value: parseExact(text), bytes, isPlain: false, nodes, entryNodes }
  }
  return { value, bytes, isPlain: !isDeep && !isRounded && !isOdd, nodes, entryNodes }
}

function parseExact(text: string): unknown {
  if (text.length <= limits.losslessJsonBytes) return parse(parseLossless, text)
  const detail =
    'With an integer beyond 2^53 or an escape in a name: ' +
    `at most ${limits.losslessJsonBytes} characters of JSON.`
  throw new IntakeError('body_too_large', detail)
}

/** It names a likely cause: clients that write HTTP by hand forget `Content-Length`. */
const emptyBody =
  'There is no JSON: send Content-Length, in bytes, or Transfer-Encoding: chunked, with the body.'

function parse(parser: (text: string) => unknown, text: string): unknown {
  try {
    return parser(text)
  } catch (error) {
    // A `RangeError` is thrown for thousands of levels.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    if (text === '') throw new IntakeError('invalid_json', emptyBody)
    // The parser's message repeats part of the input, so it is not passed on.
    const place = describeSyntaxError(text)
    const detail = `The JSON cannot be parsed${place === undefined ? '' : `: ${place}`}.`
    throw new IntakeError('invalid_json', detail)
  }
}

interface Survey {
  /** Members and elements down to the maximum depth, as `countNodes` counts them. */
  nodes: number
  /** The number of members and elements in the largest value two levels below the root. */
  entryNodes: number
  /** True if something is nested deeper than allowed. */
  isDeep: boolean
  /** A number is so large that it may be a rounded integer or beyond the range of a double. */
  isRounded: boolean
  /**
   * True if `parseLossless` has parsed the document, if one of its arrays may have to be stored as
   * text, or if one of its texts may have a lone surrogate.
   */
  isOdd: boolean
}

const entryDepthLeft = limits.jsonDepth - 2
const safe = Number.MAX_SAFE_INTEGER

/**
 * Walks through a parsed document once, and notes everything for which `checkJson` and `rowJson`
 * would otherwise walk through it again.
 *
 * @param isInArray whether the value is an element of an array. If the value is an array too, it is
 * not examined here, because it is examined as a part of the outer array
 */
function survey(value: unknown, depthLeft: number, found: Survey, isInArray: boolean): void {
  if (typeof value === 'number') {
    if (Math.abs(value) > safe) found.isRounded = true
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) {
    found.isDeep = true
    return
  }
  const before = found.nodes
  if (Array.isArray(value)) {
    let hasSimple = false
    let hasObject = false
    let hasArray = false
    for (const inner of value) {
      found.nodes++
      if (typeof inner !== 'object') hasSimple = true
      else if (Array.isArray(inner)) hasArray = true
      else if (inner !== null) hasObject = true
      if (typeof inner === 'object') survey(inner, depthLeft - 1, found, true)
      else if (typeof inner === 'number' && Math.abs(inner) > safe) found.isRounded = true
    }
    // An array of simple values, or of objects, needs no examination: it is stored as text only if
    // a number in it is large, and `isRounded` is already set then. A document that is nested too
    // deeply is not examined, because `isUnlikeArray` would overflow the stack.
    const mayBeOdd = hasArray || (hasObject && hasSimple)
    if (mayBeOdd && !isInArray && !found.isDeep && isUnlikeArray(value)) found.isOdd = true
  } else {
    // Parsed JSON inherits no enumerable properties, and `for … in` is much faster than other loops
    // over the properties.
    for (const name in value) {
      const inner = (value as Record<string, unknown>)[name]
      found.nodes++
      if (typeof inner === 'object') survey(inner, depthLeft - 1, found, false)
      else if (typeof inner === 'number' && Math.abs(inner) > safe) found.isRounded = true
    }
  }
  if (found.nodes === before) found.nodes++
  if (depthLeft === entryDepthLeft && found.nodes - before > found.entryNodes) {
    found.entryNodes = found.nodes - before
  }
}
