/** A UTF-16 unit takes at most three bytes of UTF-8. */
const bytesPerUnitMax = 3
const lineFeed = 0x0a

/**
 * Creates a function that prints lines as UTF-8 into memory that the next call overwrites. Joining
 * the lines as a string first would take twice as long.
 *
 * @param keptBytesMax the maximum memory that is kept for the next call; memory for a larger call
 * is freed after that call
 * @returns a function that returns the lines, each with a line feed at its end
 */
export function createLineWriter(keptBytesMax: number): (lines: readonly string[]) => Buffer {
  let kept = Buffer.alloc(0)

  function memoryOf(bytes: number): Buffer {
    if (bytes > keptBytesMax) return Buffer.allocUnsafeSlow(bytes)
    if (bytes > kept.length) kept = Buffer.allocUnsafeSlow(bytes)
    return kept
  }

  return (lines) => {
    let units = 0
    for (const line of lines) units += line.length + 1
    const memory = memoryOf(units * bytesPerUnitMax)
    let end = 0
    for (const line of lines) {
      end += memory.write(line, end)
      memory[end++] = lineFeed
    }
    return memory.subarray(0, end)
  }
}
