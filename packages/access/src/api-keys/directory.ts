import { startPolling, systemClock, type Clock } from '@intake/runtime'
import { hasBudget } from './key-limits.ts'
import { hashSecret, type ApiKeyStore } from './store.ts'
import type { ApiKey } from './stored-key.ts'

export type ApiKeyDirectory = ReturnType<typeof watchApiKeys>

/**
 * Keeps all keys in memory and checks every `intervalMs` whether they have changed. While the store
 * is unavailable, the last known keys remain valid. So does a known key whose entry becomes
 * unreadable: revoking it would have written a readable one.
 *
 * @param options.onUnreadable called with the names of unreadable entries after each reading
 */
export function watchApiKeys(options: {
  store: Pick<ApiKeyStore, 'revision' | 'load'>
  intervalMs: number
  onError: (error: unknown) => void
  onUnreadable: (names: string[]) => void
  clock?: Clock
}) {
  const { store, clock = systemClock } = options
  let keys: Map<string, ApiKey> | undefined
  let budgeted: ApiKey[] = []
  let hasSeveral = false
  let knownRevision: string | undefined
  /** Keys by secret since the last reading, so that each secret is hashed once. */
  const found = new Map<string, ApiKey>()

  const { close } = startPolling({
    async poll() {
      // If a key changes after the revision was read, the next poll sees another revision.
      const revision = await store.revision()
      if (revision === knownRevision) return
      const { keys: readable, unreadable } = await store.load(keys)
      for (const secretHash of unreadable.keys()) {
        const known = keys?.get(secretHash)
        if (known !== undefined) readable.set(secretHash, known)
      }
      keys = readable
      const current = [...readable.values()].filter(({ revokedAt }) => revokedAt === null)
      budgeted = current.filter(({ limits }) => hasBudget(limits))
      hasSeveral = current.length > 1
      found.clear()
      knownRevision = revision
      if (unreadable.size > 0) options.onUnreadable([...unreadable.values()])
    },
    intervalMs: options.intervalMs,
    onError: options.onError,
    clock,
  })

  return {
    /** Whether the keys have been read at least once; until then no client can be authenticated. */
    isLoaded: () => keys !== undefined,
    /** Undefined if the key is unknown, revoked or expired. It may be suspended. Does no I/O. */
    find(secret: string): ApiKey | undefined {
      const key = found.get(secret) ?? keys?.get(hashSecret(secret))
      if (key === undefined || key.revokedAt !== null) return undefined
      found.set(secret, key)
      if (key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now()) return undefined
      return key
    },
    withBudget: (): readonly ApiKey[] => budgeted,
    hasSeveral: () => hasSeveral,
    close,
  }
}
