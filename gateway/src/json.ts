import { isUtf8 } from 'node:buffer'
import { IntakeError, limits } from '@intake/contract'
import { ConfigError } from '@intake/runtime'

/**
 * Parses a JSON document from the bytes of a request.
 *
 * @throws {IntakeError} `invalid_encoding` or `invalid_json`
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new IntakeError('invalid_encoding', 'The JSON is not valid UTF-8.')
  try {
    return JSON.parse(bytes.toString())
  } catch {
    // The message of the parser repeats a piece of the input, so it goes no further.
    throw new IntakeError('invalid_json', 'The JSON cannot be parsed.')
  }
}

/**
 * Makes sure that the parser of this Node gives back the keys that it was given. V8 12.8 and later, which
 * is in Node 24 to 26, confuses keys that hold escape sequences with others that end in a backslash,
 * across documents (nodejs/node#63785): what is stored would not be what was sent.
 *
 * @throws {ConfigError} when it does not
 */
export function requireSoundParser(): void {
  JSON.parse(String.raw`{"first":[],"\\":0}`)
  const [, key] = Object.keys(JSON.parse(String.raw`{"first":1,"\"":2}`) as object)
  if (key === '"') return
  throw new ConfigError(
    `JSON.parse of Node ${process.versions.node} confuses keys (nodejs/node#63785). Use Node 20 or 22.`,
  )
}

/**
 * Checks what the parser lets through.
 *
 * @throws {IntakeError} `invalid_json`: nested deeper than `depthMax` levels, or with a number
 * beyond the range of a double
 */
export function checkJson(value: unknown, depthMax: number = limits.jsonDepth): void {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return
    throw new IntakeError('invalid_json', 'A number is beyond the range of a double.')
  }
  if (typeof value !== 'object' || value === null) return
  if (depthMax === 0) {
    const detail = `The JSON is nested deeper than ${limits.jsonDepth} levels.`
    throw new IntakeError('invalid_json', detail)
  }
  if (Array.isArray(value)) {
    for (const inner of value) checkJson(inner, depthMax - 1)
  } else {
    // Parsed JSON inherits nothing that could be enumerated, and this is much faster than the rest.
    for (const name in value) checkJson((value as Record<string, unknown>)[name], depthMax - 1)
  }
}
