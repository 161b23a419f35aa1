import type { Connection } from './exchange.ts'

/** Decides which connection is closed to make room for a new one. */
export interface EvictionOrder {
  /** The connection is new, or has a new request. */
  touch(connection: Connection): void
  /** The connection has nothing in progress that is worth keeping: it may be evicted. */
  rest(connection: Connection): void
  /** The connection has been authenticated, or has closed. */
  remove(connection: Connection): void
  /** The next one to close; undefined when all have requests in progress. */
  next(): Connection | undefined
}

/**
 * First the connection without an API key that has been silent longest. Then, of the API key with the
 * most idle connections, the one that has been idle longest, so that no key evicts the connections of
 * another. Connections younger than two sweeps have had no time to send a key: while a key has more
 * idle connections than there are without a key, its own are evicted first. A connection with a key and
 * a request in progress is never evicted, unless that request is already refused.
 */
export function createEvictionOrder(): EvictionOrder {
  // Sets keep insertion order: the oldest is the first.
  const withoutKey = new Set<Connection>()
  const idleByKey = new Map<string, Set<Connection>>()

  function remove(connection: Connection): void {
    withoutKey.delete(connection)
    if (connection.apiKeyId !== undefined) idleByKey.get(connection.apiKeyId)?.delete(connection)
  }

  return {
    remove,

    touch(connection) {
      remove(connection)
      if (connection.apiKeyId === undefined) withoutKey.add(connection)
    },

    rest(connection) {
      const { apiKeyId } = connection
      if (apiKeyId === undefined) return
      const idle = idleByKey.get(apiKeyId)
      if (idle === undefined) idleByKey.set(apiKeyId, new Set([connection]))
      else idle.add(connection)
    },

    next() {
      const oldest = first(withoutKey)
      if (oldest !== undefined && oldest.sweeps >= 2) return oldest
      let most = withoutKey
      for (const idle of idleByKey.values()) if (idle.size > most.size) most = idle
      return first(most)
    },
  }
}

function first<T>(values: Set<T>): T | undefined {
  return values.values().next().value
}
