import { isMixedArray } from './mixed-array.ts'
import { isRoundingArray } from './rounding-array.ts'

/**
 * Whether an array is stored as text (its JSON), because ClickHouse would change one of its
 * elements, reject the row, or take seconds (docs/decisions/0020-exact-arrays.md). If an array
 * inside an array needs this, the outer array is stored as text.
 */
export function isTextArray(array: readonly unknown[]): boolean {
  return isMixedArray(array) || losesNull(array) || isRoundingArray(array) || hasBothSigns(array)
}

/**
 * Whether ClickHouse would replace a `null` in an array by an empty array. It does so if all other
 * elements at the same depth, including those of neighbouring arrays, are arrays. Examples:
 * `[[1], null]`, `[[null], [[1]]]`.
 */
export function losesNull(array: readonly unknown[]): boolean {
  return array.some(isArray) && depthsOf(array) === undefined
}

/**
 * The depths at which an array has values of each kind, as bits: bit 0 is for the elements of the
 * array, bit 1 for the elements of the arrays in it, and so on.
 */
interface Depths {
  nulls: number
  arrays: number
  others: number
}

/** Finds the depths of an array's values; undefined if a `null` would be lost. */
function depthsOf(array: readonly unknown[]): Depths | undefined {
  const found: Depths = { nulls: 0, arrays: 0, others: 0 }
  for (const element of array) {
    if (element === null) found.nulls |= 1
    else if (!isArray(element)) found.others |= 1
    else {
      const inner = depthsOf(element)
      if (inner === undefined) return undefined
      found.nulls |= inner.nulls << 1
      found.arrays |= (inner.arrays << 1) | 1
      found.others |= inner.others << 1
    }
  }
  return (found.nulls & found.arrays & ~found.others) === 0 ? found : undefined
}

/**
 * Whether the arrays in an array contain both a negative integer and an integer that only UInt64
 * can hold. ClickHouse may choose UInt64 for all arrays, and then rejects the row.
 */
function hasBothSigns(array: readonly unknown[]): boolean {
  if (!array.some(isArray)) return false
  const numbers = array.flat(Infinity)
  return numbers.some(isNegative) && numbers.some(isUnsigned)
}

const isNegative = (value: unknown) =>
  (typeof value === 'number' || typeof value === 'bigint') && value < 0
const isUnsigned = (value: unknown) => typeof value === 'bigint' && value >= 2n ** 63n
const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value)
