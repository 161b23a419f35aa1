import type { Connection, ConnectionList, Place } from './exchange.ts'

export type EvictionOrder = ReturnType<typeof createEvictionOrder>

export const nowhere = (): Place => ({ list: undefined, before: undefined, after: undefined })

const emptyList = (): ConnectionList => ({ first: undefined, last: undefined, size: 0 })

/**
 * Decides which connection is closed to make room for a new one. First comes a connection without
 * an API key: the one that has been silent the longest. Second comes an idle connection of the API
 * key with the most idle connections: the one that has been idle the longest. So a key that opens
 * many connections loses only its own.
 *
 * A connection without a key that is younger than two sweeps may not have had time to send a key.
 * If all connections without a key are so young, the next connection is taken from the largest
 * group: either all connections without a key, or the idle connections of one API key. A connection
 * with a key and a request in progress is evicted only if that request is already refused.
 */
export function createEvictionOrder() {
  // Each list begins with the connection that has been in the list the longest.
  const withoutKey = emptyList()
  const idleByKey = new Map<string, ConnectionList>()

  function beginIdle(apiKeyId: string): ConnectionList {
    const idle = emptyList()
    idleByKey.set(apiKeyId, idle)
    return idle
  }

  return {
    /** To be called when the connection has been authenticated, or has closed. */
    remove,

    /** To be called when the connection is new, or has a new request. */
    touch(connection: Connection): void {
      remove(connection)
      if (connection.apiKeyId === undefined) append(withoutKey, connection)
    },

    /** To be called when it has no request in progress, or only a refused one. */
    rest(connection: Connection): void {
      const { apiKeyId, place } = connection
      if (apiKeyId === undefined || place.list !== undefined) return
      append(idleByKey.get(apiKeyId) ?? beginIdle(apiKeyId), connection)
    },

    /** Returns the connection to close next; undefined if none may be evicted. */
    next(): Connection | undefined {
      const oldest = withoutKey.first
      if (oldest !== undefined && oldest.sweeps >= 2) return oldest
      let most = withoutKey
      for (const idle of idleByKey.values()) if (idle.size > most.size) most = idle
      return most.first
    },
  }
}

function append(list: ConnectionList, connection: Connection): void {
  const { place } = connection
  place.list = list
  place.before = list.last
  if (list.last === undefined) list.first = connection
  else list.last.place.after = connection
  list.last = connection
  list.size++
}

function remove({ place }: Connection): void {
  const { list, before, after } = place
  if (list === undefined) return
  if (before === undefined) list.first = after
  else before.place.after = after
  if (after === undefined) list.last = before
  else after.place.before = before
  list.size--
  place.list = undefined
  place.before = undefined
  place.after = undefined
}
