import type { Connection } from './exchange.ts'

/** Knows which connection makes room when a new one comes. */
export interface EvictionOrder {
  /** The connection is new, or a request has come on it. */
  touch(connection: Connection): void
  /** Nothing is under way on the connection any more that would be worth keeping it. */
  rest(connection: Connection): void
  /** The connection has got its API key, or has ended. */
  remove(connection: Connection): void
  /** The next to make room; undefined when all have requests under way. */
  next(): Connection | undefined
}

/**
 * The first is the connection without an API key that was silent for longest; then, of the API key with
 * the most idle ones, the one that is idle for longest, so that no key pushes out the connections of
 * another. Nor does it push out new ones, which have had no time to show a key: while it has more idle
 * connections than there are without a key, its own come first. A connection with a key and a request under
 * way never makes room, unless that is refused already.
 */
export function createEvictionOrder(): EvictionOrder {
  // Sets keep the order in which they were filled: the oldest is the first.
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
