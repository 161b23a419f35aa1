import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createEvictionOrder } from './eviction-order.ts'
import { connections, type Connection, type Exchange } from './exchange.ts'

/** Why a connection was ended before its client ended it. */
export type EndReason =
  'room_for_another' | 'no_room' | 'pipelined' | 'unread' | 'unwanted' | 'timeout' | 'closing'

export interface Connections {
  /** Takes a new connection; for lack of room another one ends, or this one. */
  open(socket: Socket): void
  /** Notes a request; undefined when it is to be ignored, because its connection ends. */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined
  /** Notes that the request has a valid API key. */
  authenticated(request: IncomingMessage, apiKeyId: string): void
  all(): Iterable<Connection>
  end(connection: Connection, reason: EndReason): void
  /** From now on every connection ends as soon as nothing is under way on it. */
  drain(): void
}

/**
 * Of a connection: requests without a response, and requests in one turn of the event loop. Node parses a
 * thousand requests out of one read, and up to 32 reads in a row, while all other connections wait.
 */
export const pipelinedMax = 4

/**
 * Keeps the connections of a server within `max`, and the pipelined requests of each within
 * `pipelinedMax`.
 *
 * @param options.onEnd told of every connection that this process ends early
 */
export function createConnections(options: {
  max: number
  onEnd: (reason: EndReason) => void
}): Connections {
  const open = new Set<Connection>()
  const evictionOrder = createEvictionOrder()
  let isDraining = false
  let turn = 0
  let isTurnCounted = false

  /** The number of the current turn of the event loop, of those in which it was asked for. */
  function currentTurn(): number {
    if (!isTurnCounted) {
      isTurnCounted = true
      setImmediate(() => {
        turn++
        isTurnCounted = false
      })
    }
    return turn
  }

  function isPipelining(connection: Connection): boolean {
    const now = currentTurn()
    if (connection.turn !== now) {
      connection.turn = now
      connection.begunInTurn = 0
    }
    connection.begunInTurn++
    return connection.exchanges.length === pipelinedMax || connection.begunInTurn > pipelinedMax
  }

  function end(connection: Connection, reason: EndReason): void {
    if (connection.socket.destroyed) return
    options.onEnd(reason)
    connection.socket.destroy()
    forget(connection)
  }

  function forget(connection: Connection): void {
    open.delete(connection)
    evictionOrder.remove(connection)
  }

  function makeRoom(): boolean {
    if (open.size < options.max) return true
    const connection = evictionOrder.next()
    if (connection === undefined) return false
    end(connection, 'room_for_another')
    return true
  }

  function over(connection: Connection, exchange: Exchange): void {
    const index = connection.exchanges.indexOf(exchange)
    if (index >= 0) connection.exchanges.splice(index, 1)
    exchange.onEnd?.()
    exchange.onEnd = undefined
    if (connection.socket.destroyed) return
    if (!exchange.request.complete) {
      // What is missing of the body is read past, so that the connection can stay; it is not much then.
      connection.unwanted = { request: exchange.request, ms: 0 }
      exchange.request.resume()
    }
    if (connection.exchanges.length > 0) return
    if (isDraining) end(connection, 'closing')
    else evictionOrder.rest(connection)
  }

  return {
    open(socket) {
      const connection: Connection = {
        socket,
        apiKeyId: undefined,
        sweeps: 0,
        exchanges: [],
        turn: -1,
        begunInTurn: 0,
        isEnding: false,
        unwanted: undefined,
        makeEvictable: () => evictionOrder.rest(connection),
      }
      if (!makeRoom()) {
        end(connection, 'no_room')
        return
      }
      connections.set(socket, connection)
      open.add(connection)
      evictionOrder.touch(connection)
      socket.once('close', () => {
        forget(connection)
        for (const exchange of connection.exchanges.splice(0)) over(connection, exchange)
      })
    },

    begin(request, response) {
      const connection = connections.get(request.socket)
      if (connection === undefined || connection.isEnding) return undefined
      if (connection.socket.destroyed) return undefined
      if (isPipelining(connection)) {
        dropStacks(connection.socket)
        end(connection, 'pipelined')
        return undefined
      }
      const exchange = createExchange(request, response)
      connection.exchanges.push(exchange)
      connection.unwanted = undefined
      evictionOrder.touch(connection)
      response.once('close', () => over(connection, exchange))
      return exchange
    },

    authenticated(request, apiKeyId) {
      const connection = connections.get(request.socket)
      if (connection === undefined || connection.apiKeyId !== undefined) return
      evictionOrder.remove(connection)
      connection.apiKeyId = apiKeyId
    },

    all: () => open,
    end,

    drain() {
      isDraining = true
      for (const connection of open) {
        if (connection.exchanges.length === 0) end(connection, 'closing')
      }
    },
  }
}

/**
 * Node makes an error for each request that the end of a connection cuts off. A thousand of them came in
 * one read, and their stack traces would cost more than all the rest.
 */
function dropStacks(socket: Socket): void {
  const { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0))
  socket.once('close', () => (Error.stackTraceLimit = stackTraceLimit))
}

function createExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  return {
    request,
    response,
    fail: undefined,
    onEnd: undefined,
    bodyBytesMax: Infinity,
    progress: {
      bytesRead: request.socket.bytesRead,
      bodyBytes: 0,
      bytesAhead: Infinity,
      processingMs: 0,
      unreadMs: 0,
    },
  }
}
