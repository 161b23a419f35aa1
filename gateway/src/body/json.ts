import { isUtf8 } from 'node:buffer'
import { nodeBytes } from '@intake/config'
import { IntakeError, limits } from '@intake/contract'
import { createNodeCounter, tooManyNodes } from './json-nodes.ts'
import { hasEscapedName, hasLargeInteger, parseLossless } from './lossless-json.ts'

/**
 * Parsing a document of up to this size takes a millisecond at most, whatever it contains: it is parsed
 * at once and counted afterwards.
 */
export const smallJsonBytes = 8 * 1024

/**
 * Parses a JSON document from the bytes of a request. Integers that a double would round become
 * `bigint`s.
 *
 * @param options.nodesMax maximum members and elements
 * @param options.charge called with the memory that the value takes, in bytes; may throw
 * @throws {IntakeError} `invalid_encoding`, `invalid_json`, `body_too_large`
 */
export function parseJson(
  bytes: Buffer,
  options: { nodesMax: number; charge: (bytes: number) => void },
): unknown {
  const { nodesMax, charge } = options
  const isSmall = bytes.length <= smallJsonBytes
  if (!isSmall) charge(createNodeCounter(nodesMax).add(bytes) * nodeBytes)
  const text = decodeJson(bytes)
  const parsed = parseText(text)
  if (isSmall) {
    const nodes = parsed.isDeep ? createNodeCounter(nodesMax).add(bytes) : parsed.nodes
    if (nodes > nodesMax) throw tooManyNodes(nodesMax)
    charge(nodes * nodeBytes)
  }
  return exactValue(text, parsed)
}

/**
 * Ignores a byte order mark, as RFC 8259 allows.
 *
 * @throws {IntakeError} `invalid_encoding`
 */
export function decodeJson(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new IntakeError('invalid_encoding', 'The JSON is not valid UTF-8.')
  return bytes[0] === byteOrderMark[0] && bytes.subarray(0, 3).equals(byteOrderMark)
    ? bytes.toString('utf8', byteOrderMark.length)
    : bytes.toString()
}

const byteOrderMark = Buffer.from('\uFEFF')

export interface ParsedText extends Survey {
  value: unknown
}

/** @throws {IntakeError} `invalid_json`, `body_too_large` */
export function parseText(text: string): ParsedText {
  const isExact = hasEscapedName(text)
  const value = isExact ? parseExact(text) : parse(JSON.parse, text)
  const found = { nodes: 0, isDeep: false, isRounded: false }
  survey(value, limits.jsonDepth, found)
  return { value, ...found, isRounded: found.isRounded && !isExact }
}

/**
 * The value of a document, parsed again if `parseText` has rounded an integer.
 *
 * @throws {IntakeError} `body_too_large`; `invalid_json` when it is nested thousands of levels deep
 */
export function exactValue(text: string, { value, isRounded }: ParsedText): unknown {
  return isRounded && hasLargeInteger(text) ? parseExact(text) : value
}

function parseExact(text: string): unknown {
  if (text.length <= limits.losslessJsonBytes) return parse(parseLossless, text)
  const detail =
    'With an integer beyond 2^53 or an escape in a name: ' +
    `at most ${limits.losslessJsonBytes} characters of JSON.`
  throw new IntakeError('body_too_large', detail)
}

/** Clients that write HTTP by hand forget the length, and the body then counts as empty. */
const emptyBody =
  'There is no JSON: send Content-Length, in bytes, or Transfer-Encoding: chunked, with the body.'

function parse(parser: (text: string) => unknown, text: string): unknown {
  try {
    return parser(text)
  } catch {
    if (text === '') throw new IntakeError('invalid_json', emptyBody)
    // The parser's message repeats part of the input, so it is not passed on.
    throw new IntakeError('invalid_json', 'The JSON cannot be parsed.')
  }
}

interface Survey {
  /** Members and elements as `createNodeCounter` counts them, down to the maximum depth. */
  nodes: number
  /** Something is nested deeper than allowed. */
  isDeep: boolean
  /** A number is so large that it may be a rounded integer. */
  isRounded: boolean
}

function survey(value: unknown, depthLeft: number, found: Survey): void {
  if (typeof value === 'number') {
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) found.isRounded = true
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) {
    found.isDeep = true
    return
  }
  const before = found.nodes
  if (Array.isArray(value)) {
    for (const inner of value) {
      found.nodes++
      survey(inner, depthLeft - 1, found)
    }
  } else {
    // Parsed JSON inherits no enumerable properties, and `for … in` is much faster than the
    // alternatives.
    for (const name in value) {
      found.nodes++
      survey((value as Record<string, unknown>)[name], depthLeft - 1, found)
    }
  }
  if (found.nodes === before) found.nodes++
}
