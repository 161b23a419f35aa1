import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { IntakeError } from '@intake/contract'
import { closeInStages } from '@intake/runtime'
import { endAfterResponses } from './client-errors.ts'
import { createEvictionOrder } from './eviction-order.ts'
import { connections, type Connection, type Exchange } from './exchange.ts'

/** Why this process closes a connection before the client does. */
export const endReasons = [
  'room_for_another',
  'no_room',
  'pipelined',
  'unread',
  'unwanted',
  'timeout',
  'closing',
] as const
export type EndReason = (typeof endReasons)[number]

export interface Connections {
  /** Registers a new connection. If there are too many, it closes another one, or else this one. */
  open(socket: Socket): void
  /** Registers a request; undefined when it must be ignored because its connection is closing. */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined
  /** Notes that the request has a valid API key. */
  authenticated(request: IncomingMessage, apiKeyId: string): void
  all(): Iterable<Connection>
  /** Open connections, and their requests without a complete response. */
  counts(): { open: number; inFlight: number }
  end(connection: Connection, reason: EndReason): void
  /** From now on every connection is closed as soon as it has no request in progress. */
  drain(): void
}

/**
 * Maximum requests without a response per connection, and requests begun in one turn of the event loop.
 * Node parses a thousand requests from one read, and up to 32 reads in a row, while all other
 * connections wait.
 */
export const pipelinedMax = 4

/**
 * Limits the connections of a server to `max`, and the pipelined requests of each to `pipelinedMax`.
 *
 * @param options.onEnd called for every connection that this process closes early
 * @param options.onExchangeEnd called once for every request, when its response has been sent or its connection
 * has ended
 */
export function createConnections(options: {
  max: number
  onEnd: (reason: EndReason) => void
  onExchangeEnd: (exchange: Exchange) => void
}): Connections {
  const open = new Set<Connection>()
  const evictionOrder = createEvictionOrder()
  let isDraining = false
  let turn = 0
  let isTurnCounted = false

  /** A number for the current turn of the event loop; turns in which nobody asks are not counted. */
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
    // The socket and the response both emit `close` when a client leaves.
    if (index < 0) return
    connection.exchanges.splice(index, 1)
    for (const onEnd of exchange.onEnd) onEnd()
    options.onExchangeEnd(exchange)
    if (connection.socket.destroyed) return
    // It is closing in stages.
    if (connection.socket.writableEnded) {
      if (!exchange.request.complete) abortOnClose(exchange.request)
      evictionOrder.rest(connection)
      return
    }
    if (!exchange.request.complete) {
      // Discards the rest of the body, which is small here, so that the connection can stay open.
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
        isBroken: false,
        unwanted: undefined,
        makeEvictable: () => evictionOrder.rest(connection),
      }
      if (!makeRoom()) {
        end(connection, 'no_room')
        return
      }
      connections.set(socket, connection)
      // Node calls it after the last response.
      socket.destroySoon = () => closeInStages(socket)
      open.add(connection)
      evictionOrder.touch(connection)
      socket.once('close', () => {
        forget(connection)
        while (connection.exchanges[0] !== undefined) over(connection, connection.exchanges[0])
      })
    },

    begin(request, response) {
      const connection = connections.get(request.socket)
      if (connection === undefined || connection.isEnding) return undefined
      if (connection.socket.destroyed) return undefined
      if (isPipelining(connection)) {
        options.onEnd('pipelined')
        ignoreRest(connection)
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
    counts() {
      let inFlight = 0
      for (const { exchanges } of open) inFlight += exchanges.length
      return { open: open.size, inFlight }
    },
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
 * Ends a connection after the responses to the requests that have begun on it. What follows is not
 * parsed, from the next read on: the parser is still in this one.
 */
function ignoreRest(connection: Connection): void {
  const { socket } = connection
  connection.isEnding = true
  dropStacks(socket)
  process.nextTick(() => {
    const error = new IntakeError('malformed_http', 'Too many requests without a response.')
    if (!endAfterResponses(socket, error)) closeInStages(socket)
  })
}

/**
 * Node creates an error for each request that a closed connection cuts off. One read can hold a
 * thousand requests, and their stack traces would cost more than everything else.
 */
function dropStacks(socket: Socket): void {
  const { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0))
  socket.once('close', () => (Error.stackTraceLimit = stackTraceLimit))
}

/**
 * Node no longer aborts a request that has its response, but its handler may still read the body.
 */
function abortOnClose(request: IncomingMessage): void {
  request.socket.once('close', () => request.destroy(new Error('The connection has closed.')))
}

function createExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  return {
    request,
    response,
    startedAt: performance.now(),
    fail: undefined,
    failure: undefined,
    onEnd: [],
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
