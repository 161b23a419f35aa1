/**
 * Creates a function that caches results of queries by key, for all readers of this worker. Calls
 * with the same key share a query that is running. Failures are not cached.
 */
export function createCache(ttlMs: number, now: () => number = () => performance.now()) {
  const entries = new Map<string, { at: number; value: Promise<unknown> }>()
  return function cached<Value>(key: string, read: () => Promise<Value>): Promise<Value> {
    const known = entries.get(key)
    if (known !== undefined && now() - known.at < ttlMs) return known.value as Promise<Value>
    for (const [old, { at }] of entries) if (now() - at >= ttlMs) entries.delete(old)
    const value = read()
    entries.set(key, { at: now(), value })
    value.catch(() => {
      if (entries.get(key)?.value === value) entries.delete(key)
    })
    return value
  }
}
export type Cache = ReturnType<typeof createCache>
