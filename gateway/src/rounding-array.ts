interface Numbers {
  /** How deep arrays are nested; undefined without any element. */
  depth: number | undefined
  hasLarge: boolean
  hasFraction: boolean
}

/**
 * Whether ClickHouse would round an integer of this value: an array in which, down to the same depth of
 * arrays, everything is a number or null gets one type, and that is a double when an integer beyond 2^53
 * stands beside a fraction. In any other array every element keeps its type.
 */
export function isRoundingArray(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  const numbers = numbersOf(value)
  return numbers !== undefined && numbers.hasLarge && numbers.hasFraction
}

/** Undefined when there is more than numbers, or not all of them at one depth. */
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
