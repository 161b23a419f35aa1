/**
 * Where an array and its nested arrays have objects. `plain`: nowhere. A number: all values except
 * null are objects at this nesting depth (0 for `[{}]`, 1 for `[[{}]]`). `mixed`: anything else.
 */
type Content = 'plain' | 'mixed' | number

/**
 * Whether an array has objects next to other values, or at different depths. ClickHouse would store
 * each name in these objects as a column of its own: a request of 50 KB would take ClickHouse
 * seconds and create thousands of files (docs/decisions/0002-clickhouse-tables.md).
 */
export function isMixedArray(value: readonly unknown[]): boolean {
  return contentOf(value) === 'mixed'
}

function contentOf(array: readonly unknown[]): Content {
  let content: Content | undefined
  for (const element of array) {
    if (element === null) continue
    const own = contentOfElement(element)
    if (own === 'mixed' || (content !== undefined && content !== own)) {
      if (own !== 'plain' || content !== 'plain') return 'mixed'
    }
    content = own
  }
  return content ?? 'plain'
}

function contentOfElement(element: unknown): Content {
  if (typeof element !== 'object') return 'plain'
  if (!Array.isArray(element)) return 0
  const inner = contentOf(element)
  return typeof inner === 'number' ? inner + 1 : inner
}
