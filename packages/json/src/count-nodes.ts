import { IntakeError } from '@intake/contract'

export interface NodeCounter {
  /**
   * Counts the members and elements in the next bytes of a document, which may be split anywhere.
   *
   * @returns the count so far
   * @throws {IntakeError} `body_too_large` beyond the maximum
   */
  add(bytes: Uint8Array): number
}

/**
 * Counts the members and elements of a JSON document before it is parsed. An opening bracket or
 * brace counts as the first member or element, and each comma as one more. So an empty object or
 * array counts as if it had one. For invalid JSON the count is arbitrary.
 */
export function createNodeCounter(nodesMax: number): NodeCounter {
  let nodes = 0
  let inString = false
  /**
   * How many of the next bytes to skip: 1 if the last bytes ended with a backslash in a string,
   * because the next byte is then escaped.
   */
  let toSkip = 0

  return {
    add(bytes) {
      const end = bytes.length
      let count = nodes
      let at = Math.min(toSkip, end)
      toSkip -= at
      // The inner loops compare each byte with constants. This is several times faster than
      // comparing it with a variable.
      while (at < end) {
        if (inString) {
          while (at < end) {
            const byte = bytes[at++]
            if (byte === quote) {
              inString = false
              break
            }
            if (byte === backslash) at++
          }
        } else {
          while (at < end) {
            const byte = bytes[at++]
            if (byte === comma || byte === openBrace || byte === openBracket) count++
            else if (byte === quote) {
              inString = true
              break
            }
          }
        }
      }
      toSkip += at - end
      nodes = count
      if (count > nodesMax) throw tooManyNodes(nodesMax)
      return count
    },
  }
}

/**
 * Creates a counter for a document that arrives in chunks. The counter does not count a document of
 * at most `freeBytes` (`nodes` returns undefined), because counting such a document after parsing
 * is cheaper.
 */
export function createLateCounter(
  nodesMax: number,
  freeBytes: number,
): { add(chunk: Uint8Array): void; nodes(): number | undefined } {
  const counter = createNodeCounter(nodesMax)
  let early: Uint8Array[] = []
  let bytes = 0
  let nodes: number | undefined
  return {
    add(chunk) {
      bytes += chunk.length
      if (bytes <= freeBytes) {
        early.push(chunk)
        return
      }
      for (const one of early) counter.add(one)
      early = []
      nodes = counter.add(chunk)
    },
    nodes: () => nodes,
  }
}

export function tooManyNodes(nodesMax: number): IntakeError {
  const detail = `The JSON must not have more than ${nodesMax} members and elements.`
  return new IntakeError('body_too_large', detail)
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
