import { IntakeError, limits } from '@intake/contract'
import { tooManyNodes } from './count-nodes.ts'
import { isBeyond64Bits } from './lossless-json.ts'

/**
 * Checks a parsed document for what the parser accepts but a record must not contain. Callers skip
 * this check if the parser found the document to be plain (`ParsedJson.isPlain`).
 *
 * @param options.pointer location of the value in the document, for errors
 * @throws {IntakeError} `invalid_json`: nested too deeply, or a number beyond the range of a
 * double; `invalid_request`: an integer that cannot be kept exactly; `body_too_large`: more members
 * and elements than one record may have
 */
export function checkJson(
  value: unknown,
  options: { depthMax?: number; pointer?: string } = {},
): void {
  const { depthMax = limits.jsonDepth, pointer = '' } = options
  const found = { nodes: 0, pointer }
  check(value, depthMax, found)
  if (found.nodes > limits.jsonNodes) throw tooManyNodes(limits.jsonNodes)
}

function check(value: unknown, depthLeft: number, found: { nodes: number; pointer: string }): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new IntakeError('invalid_json', 'A number is beyond the range of a double.')
  }
  if (typeof value === 'bigint' && isBeyond64Bits(value)) {
    const detail = 'must not contain an integer that neither 64 bits nor a double can hold'
    const errors = [{ pointer: found.pointer, detail }]
    throw new IntakeError('invalid_request', 'An integer cannot be kept exactly.', { errors })
  }
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) {
    const detail = `The JSON is nested deeper than ${limits.jsonDepth} levels.`
    throw new IntakeError('invalid_json', detail)
  }
  const before = found.nodes
  if (Array.isArray(value)) {
    for (const inner of value) {
      found.nodes++
      check(inner, depthLeft - 1, found)
    }
  } else {
    for (const name in value) {
      found.nodes++
      check((value as Record<string, unknown>)[name], depthLeft - 1, found)
    }
  }
  if (found.nodes === before) found.nodes++
}
