interface Numbers {
  /** The nesting depth of the numbers; undefined if there are no numbers. */
  depth: number | undefined
  hasLarge: boolean
  hasFraction: boolean
}

/**
 * Whether ClickHouse would round an integer of this array, or of an array in it. If an array and
 * its nested arrays have only null and numbers, and all numbers are at the same depth, ClickHouse
 * gives the numbers one type. That type is a double when there are both an integer beyond 2^53 and
 * a fraction. In any other array every element keeps its own type.
 */
export function isRoundingArray(array: readonly unknown[]): boolean {
  return numbersOfArray(array) === 'rounded'
}

/**
 * Finds the numbers of a value; `rounded` if ClickHouse would round an integer in it; undefined if
 * the value has anything besides numbers and null, or numbers at different depths.
 */
function numbersOf(value: unknown): Numbers | 'rounded' | undefined {
  if (Array.isArray(value)) return numbersOfArray(value)
  const found: Numbers = { depth: 0, hasLarge: false, hasFraction: false }
  if (value === null) return { ...found, depth: undefined }
  if (typeof value === 'bigint') return { ...found, hasLarge: true }
  if (typeof value === 'number') return { ...found, hasFraction: isFraction(value) }
  return undefined
}

function numbersOfArray(array: readonly unknown[]): Numbers | 'rounded' | undefined {
  const found: Numbers = { depth: undefined, hasLarge: false, hasFraction: false }
  let isAlike = true
  for (const element of array) {
    const inner = numbersOf(element)
    if (inner === 'rounded') return inner
    if (inner === undefined) isAlike = false
    if (inner?.depth === undefined) continue
    if (found.depth !== undefined && found.depth !== inner.depth + 1) isAlike = false
    found.depth = inner.depth + 1
    found.hasLarge ||= inner.hasLarge
    found.hasFraction ||= inner.hasFraction
  }
  if (!isAlike) return undefined
  return found.hasLarge && found.hasFraction ? 'rounded' : found
}

/** Whether the number is printed with a fraction or an exponent. */
const isFraction = (value: number) => !Number.isSafeInteger(value)
