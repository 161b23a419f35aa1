/**
 * What an array has, together with the arrays in it. The numbers are bits: bit 0 is for the
 * elements of the array, bit 1 for the elements of the arrays in it, and so on.
 */
interface Content {
  nulls: number
  arrays: number
  objects: number
  numbers: number
  /** Texts and booleans. */
  others: number
  /** Properties of the array and of all arrays in it: a sum of `traits`. */
  traits: number
}

const traits = {
  /** A nested array has no object, not even in an array in it. */
  withoutObjects: 1,
  losesNull: 2,
  rounds: 4,
  /** There is an integer beyond 2^53. */
  large: 8,
  fraction: 16,
  negative: 32,
  /** There is an integer that only UInt64 can hold. */
  unsigned: 64,
}

/**
 * Whether an array is stored as text (its JSON), because ClickHouse would change one of its
 * elements, reject the row, or take seconds (docs/decisions/0020-exact-arrays.md). If an array
 * inside an array needs this, the outer array is stored as text.
 *
 * ClickHouse gives numbers at one depth a common type, if the array has only numbers and null. That
 * type is a double, and rounds, when there are both an integer beyond 2^53 and a fraction. And it
 * rejects the row if it chooses UInt64 for nested arrays of which one has a negative integer.
 */
export function isTextArray(array: readonly unknown[]): boolean {
  const content = contentOf(array)
  const bothSigns = traits.negative | traits.unsigned
  return (
    isUnlike(content) ||
    (content.traits & traits.rounds) !== 0 ||
    (content.arrays !== 0 && (content.traits & bothSigns) === bothSigns)
  )
}

/**
 * Whether an array is stored as text although it has no large number.
 *
 * - It has objects next to other values, or at different depths. ClickHouse would store each name in
 * these objects as a column of its own: a request of 50 KB would take ClickHouse seconds and create
 * thousands of files (docs/decisions/0002-clickhouse-tables.md).
 * - ClickHouse would replace a `null` by an empty array. It does so if all other elements at the same
 * depth, including those of neighbouring arrays, are arrays: `[[1], null]`, `[[null], [[1]]]`.
 */
export const isUnlikeArray = (array: readonly unknown[]): boolean => isUnlike(contentOf(array))

function isUnlike({ objects, numbers, others, traits: found }: Content): boolean {
  if ((found & traits.losesNull) !== 0) return true
  if (objects === 0) return false
  return !isOneDepth(objects) || (numbers | others) !== 0 || (found & traits.withoutObjects) !== 0
}

const isOneDepth = (depths: number) => (depths & (depths - 1)) === 0

function contentOf(array: readonly unknown[]): Content {
  const found: Content = { nulls: 0, arrays: 0, objects: 0, numbers: 0, others: 0, traits: 0 }
  for (const element of array) {
    if (element === null) found.nulls |= 1
    else if (Array.isArray(element)) addArray(found, contentOf(element))
    else if (typeof element === 'object') found.objects |= 1
    else if (typeof element === 'number' || typeof element === 'bigint') {
      found.numbers |= 1
      found.traits |= traitsOf(element)
    } else found.others |= 1
  }
  const { nulls, arrays, objects, numbers, others } = found
  if ((nulls & arrays & ~(objects | numbers | others)) !== 0) found.traits |= traits.losesNull
  const hasBoth = traits.large | traits.fraction
  const isAlike = (objects | others) === 0 && isOneDepth(numbers)
  if (isAlike && (found.traits & hasBoth) === hasBoth) found.traits |= traits.rounds
  return found
}

function addArray(into: Content, inner: Content): void {
  into.nulls |= inner.nulls << 1
  into.arrays |= (inner.arrays << 1) | 1
  into.objects |= inner.objects << 1
  into.numbers |= inner.numbers << 1
  into.others |= inner.others << 1
  into.traits |= inner.traits
  if (inner.objects === 0) into.traits |= traits.withoutObjects
}

function traitsOf(value: number | bigint): number {
  const sign = value < 0 ? traits.negative : 0
  if (typeof value === 'number') return Number.isSafeInteger(value) ? sign : sign | traits.fraction
  return sign | traits.large | (value >= 2n ** 63n ? traits.unsigned : 0)
}
