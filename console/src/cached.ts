/**
 * Caches results of queries by key, for all readers of this console. While a query is running,
 * further calls with its key wait for the same result. Failures are not kept, nor is a result for
 * which `isWhole` returns false.
 *
 * @param ttlMs how long a result is kept after it has arrived
 */
export function createCache(ttlMs: number) {
  /** `endsAt` is when the entry expires: `Infinity` as long as its query is running. */
  const entries = new Map<string, { endsAt: number; value: Promise<unknown> }>()
  return function cached<Value>(
    key: string,
    read: () => Promise<Value>,
    isWhole: (value: Value) => boolean = () => true,
  ): Promise<Value> {
    for (const [old, { endsAt }] of entries) if (performance.now() >= endsAt) entries.delete(old)
    const known = entries.get(key)
    if (known !== undefined) return known.value as Promise<Value>
    const value = read()
    const entry = { endsAt: Infinity, value }
    entries.set(key, entry)
    value.then(
      (result) => (entry.endsAt = isWhole(result) ? performance.now() + ttlMs : performance.now()),
      () => entries.delete(key),
    )
    return value
  }
}
export type Cache = ReturnType<typeof createCache>
