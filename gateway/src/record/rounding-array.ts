interface Numbers {
  /** Nesting depth of arrays; undefined without any element. */
  depth: number | undefined
  hasLarge: boolean
  hasFraction: boolean
}

/**
 * Whether ClickHouse would round an integer of this value. ClickHouse gives an array one type if all
 * its elements are numbers or null at the same nesting depth. That type is a double when the array has
 * both an integer beyond 2^53 and a fraction. In any other array every element keeps its own type.
 */
export function isRoundingArray(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  const numbers = numbersOf(value)
  return numbers !== undefined && numbers.hasLarge && numbers.hasFraction
}

/**
 * Undefined when there are other values than numbers and null, or when they are at different depths.
 */
function numbersOf(value: unknown): Numbers | undefined {
  const found: Numbers = { depth: undefined, hasLarge: false, hasFraction: false }
  if (value === null) return found
  if (typeof value === 'bigint') return { ...found, depth: 0, hasLarge: true }
  if (typeof value === 'number') return { ...found, depth: 0, hasFraction: isFraction(value) }
  if (!Array.isArray(value)) return undefined
  for (const element of value) {
    const inner = numbersOf(element)
    if (inner === undefined) return undefined
    if (inner.depth === undefined) continue
    if (found.depth !== undefined && found.depth !== inner.depth + 1) return undefined
    found.depth = inner.depth + 1
    found.hasLarge ||= inner.hasLarge
    found.hasFraction ||= inner.hasFraction
  }
  return found
}

/** Printed with a fraction or an exponent. */
const isFraction = (value: number) => !Number.isSafeInteger(value)
