import { startPolling } from '@intake/runtime'
import { hashSecret, type ApiKeyStore } from './store.ts'
import type { ApiKey } from './stored-key.ts'

export interface ApiKeyDirectory {
  /** Whether the keys have been read at least once; until then no client can be authenticated. */
  isLoaded(): boolean
  /**
   * Returns the key with this secret; undefined if it is unknown, revoked or expired. The key may
   * be suspended. Does no I/O.
   */
  find(secret: string): ApiKey | undefined
  /** All keys that are not revoked. */
  all(): Iterable<ApiKey>
  close(): void
}

/**
 * Keeps all keys in memory and reads them again every `intervalMs`, with shorter intervals until
 * the first success. While the store is unavailable, the last known keys remain valid. A known key
 * also remains valid when its entry becomes unreadable. Such a key has not been revoked, because
 * revoking it would have written a readable entry.
 *
 * @param options.onUnreadable called after each reading that found unreadable entries, with their
 * names
 */
export function watchApiKeys(options: {
  store: ApiKeyStore
  intervalMs: number
  onError: (error: unknown) => void
  onUnreadable: (names: string[]) => void
}): ApiKeyDirectory {
  let keys: Map<string, ApiKey> | undefined
  /**
   * Caches the keys that were found since the last refresh, by secret. Each secret is thus hashed
   * only once per refresh.
   */
  const found = new Map<string, ApiKey>()

  const { close } = startPolling({
    async poll() {
      const { keys: readable, unreadable } = await options.store.load()
      for (const secretHash of unreadable.keys()) {
        const known = keys?.get(secretHash)
        if (known !== undefined) readable.set(secretHash, known)
      }
      keys = readable
      found.clear()
      if (unreadable.size > 0) options.onUnreadable([...unreadable.values()])
    },
    intervalMs: options.intervalMs,
    onError: options.onError,
  })

  return {
    isLoaded: () => keys !== undefined,
    find(secret) {
      const key = found.get(secret) ?? keys?.get(hashSecret(secret))
      if (key === undefined || key.revokedAt !== null) return undefined
      found.set(secret, key)
      if (key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now()) return undefined
      return key
    },
    *all() {
      for (const key of keys?.values() ?? []) if (key.revokedAt === null) yield key
    },
    close,
  }
}
