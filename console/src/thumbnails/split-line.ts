/**
 * Splits what console and decoder send to each other: a line of JSON, and the rest.
 *
 * @throws {Error} if there is no such line
 */
export function splitLine(bytes: Buffer): { line: unknown; rest: Buffer } {
  const end = bytes.indexOf('\n')
  return { line: JSON.parse(bytes.toString('utf8', 0, end)), rest: bytes.subarray(end + 1) }
}
