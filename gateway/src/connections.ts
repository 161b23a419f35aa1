import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connections, type Connection, type Exchange } from './exchange.ts'
import { unwantedBytesMax } from './linger.ts'

/** Why a connection was ended before its client ended it. */
export type EndReason =
  'room_for_another' | 'no_room' | 'pipelined' | 'unread' | 'unwanted' | 'timeout' | 'closing'

export interface Connections {
  /** Takes a new connection; for lack of room another one ends, or this one. */
  open(socket: Socket): void
  /** Notes a request; undefined when it is to be ignored, because its connection ends. */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined
  /** Notes that the request has a valid API key. */
  authenticated(request: IncomingMessage): void
  all(): Iterable<Connection>
  end(connection: Connection, reason: EndReason): void
  /** From now on every connection ends as soon as nothing is under way on it. */
  drain(): void
}

/** Beyond this Node would still parse a thousand requests out of one read, whatever else waits. */
export const unansweredMax = 16

/**
 * Keeps the connections of a server within `max`. The first to make room is the one without an API key
 * that was silent for longest, then the one with a key that is idle for longest. A connection with a key
 * and a request under way never is.
 *
 * @param options.onEnd told of every connection that this process ends early
 */
export function createConnections(options: {
  max: number
  onEnd: (reason: EndReason) => void
}): Connections {
  const open = new Set<Connection>()
  /** The oldest first. */
  const withoutKey = new Set<Connection>()
  const idleWithKey = new Set<Connection>()
  let isDraining = false

  function end(connection: Connection, reason: EndReason): void {
    if (connection.socket.destroyed) return
    options.onEnd(reason)
    connection.socket.destroy()
    forget(connection)
  }

  function forget(connection: Connection): void {
    open.delete(connection)
    withoutKey.delete(connection)
    idleWithKey.delete(connection)
  }

  function rest(connection: Connection): void {
    if (isDraining) end(connection, 'closing')
    else if (connection.hasKey && open.has(connection)) idleWithKey.add(connection)
  }

  function makeRoom(): boolean {
    if (open.size < options.max) return true
    for (const connection of [first(withoutKey), first(idleWithKey)]) {
      if (connection === undefined) continue
      end(connection, 'room_for_another')
      return true
    }
    return false
  }

  function over(connection: Connection, exchange: Exchange): void {
    const index = connection.exchanges.indexOf(exchange)
    if (index >= 0) connection.exchanges.splice(index, 1)
    exchange.onEnd?.()
    exchange.onEnd = undefined
    if (!exchange.request.complete) readPast(connection, exchange.request)
    if (connection.exchanges.length === 0) rest(connection)
  }

  /** The rest of a body after the response: some of it is read past, so that the connection can stay. */
  function readPast(connection: Connection, request: IncomingMessage): void {
    if (connection.socket.destroyed) return
    let bytes = 0
    connection.unwanted = { request, ms: 0 }
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > unwantedBytesMax) end(connection, 'unwanted')
    })
    request.resume()
  }

  return {
    open(socket) {
      const connection: Connection = {
        socket,
        hasKey: false,
        exchanges: [],
        isEnding: false,
        unwanted: undefined,
      }
      if (!makeRoom()) {
        end(connection, 'no_room')
        return
      }
      connections.set(socket, connection)
      open.add(connection)
      withoutKey.add(connection)
      socket.once('close', () => {
        forget(connection)
        for (const exchange of connection.exchanges.splice(0)) over(connection, exchange)
      })
    },

    begin(request, response) {
      const connection = connections.get(request.socket)
      if (connection === undefined || connection.isEnding) return undefined
      if (connection.socket.destroyed) return undefined
      if (connection.exchanges.length === unansweredMax) {
        end(connection, 'pipelined')
        return undefined
      }
      const exchange = createExchange(request, response)
      connection.exchanges.push(exchange)
      connection.unwanted = undefined
      idleWithKey.delete(connection)
      if (withoutKey.delete(connection)) withoutKey.add(connection)
      response.once('close', () => over(connection, exchange))
      return exchange
    },

    authenticated(request) {
      const connection = connections.get(request.socket)
      if (connection === undefined || connection.hasKey) return
      connection.hasKey = true
      withoutKey.delete(connection)
    },

    all: () => open,
    end,

    drain() {
      isDraining = true
      for (const connection of open) if (connection.exchanges.length === 0) rest(connection)
    },
  }
}

function createExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  return {
    request,
    response,
    fail: undefined,
    onEnd: undefined,
    progress: {
      bytesRead: request.socket.bytesRead,
      bytesAhead: Infinity,
      processingMs: 0,
      unreadMs: 0,
    },
  }
}

function first<T>(values: Set<T>): T | undefined {
  return values.values().next().value
}
