import { isUtf8 } from 'node:buffer'
import { IntakeError, limits } from '@intake/contract'

/**
 * Parses a JSON document from the bytes of a request.
 *
 * @throws {IntakeError} `invalid_encoding`, or `invalid_json`: not JSON, nested deeper than 32
 * levels, or with a number beyond the range of a double
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new IntakeError('invalid_encoding', 'The JSON is not valid UTF-8.')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    // The message of the parser repeats a piece of the input, so it goes no further.
    throw new IntakeError('invalid_json', 'The JSON cannot be parsed.')
  }
  checkValue(value, limits.jsonDepth)
  return value
}

function checkValue(value: unknown, depthLeft: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new IntakeError('invalid_json', 'A number is beyond the range of a double.')
  }
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) {
    throw new IntakeError(
      'invalid_json',
      `The JSON is nested deeper than ${limits.jsonDepth} levels.`,
    )
  }
  for (const inner of Object.values(value)) checkValue(inner, depthLeft - 1)
}
