import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@intake/runtime'
import { ignoreRest } from './client-errors.ts'
import { createEvictionOrder, nowhere, type EvictionOrder } from './eviction-order.ts'
import {
  connectionOf,
  createExchange,
  exchangeOf,
  registerConnection,
  type Connection,
  type Exchange,
} from './exchange.ts'
import { closeInStages } from './linger.ts'

/** The reasons for which this process closes a connection before the client does. */
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

/**
 * At most this many requests on a connection may wait for their responses. At most this many may
 * begin on it in one turn of the event loop: Node would otherwise parse a thousand requests from
 * one read, and up to 32 reads in a row, while all other connections wait.
 */
export const pipelinedMax = 4

interface Options {
  max: number
  /** Called for every connection that this process closes early. */
  onEnd: (reason: EndReason) => void
  /**
   * Called once for every request, when its response has been sent or its connection has ended, with
   * the milliseconds since its head arrived.
   */
  onExchangeEnd: (exchange: Exchange, ms: number) => void
  clock: Pick<Clock, 'now'>
}

/** Limits the connections of a server, and the pipelined requests of each to `pipelinedMax`. */
export class Connections {
  readonly #options: Options
  readonly #open = new Set<Connection>()
  readonly #evictionOrder = createEvictionOrder()
  readonly #loopTurn = createLoopTurn()
  /** One listener for all responses. A new function for each response would be expensive. */
  readonly #onResponseClose: (this: ServerResponse) => void
  #isLeaving = false
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
    const finish = this.#finish
    this.#onResponseClose = function () {
      const exchange = exchangeOf(this.req)
      if (exchange !== undefined) finish(exchange)
    }
  }

  /** If too many are open, closes the one that `EvictionOrder` chooses, else the new one. */
  open(socket: Socket): void {
    const connection = createConnection(socket, this.#evictionOrder)
    if (this.#open.size >= this.#options.max) {
      const other = this.#evictionOrder.next()
      this.end(other ?? connection, other === undefined ? 'no_room' : 'room_for_another')
      if (other === undefined) return
    }
    registerConnection(connection)
    // Node calls `destroySoon` after the last response; the connection must then close in stages.
    socket.destroySoon = () => closeInStages(socket)
    this.#open.add(connection)
    this.#evictionOrder.touch(connection)
    socket.once('close', () => {
      this.#forget(connection)
      while (connection.exchanges[0] !== undefined) this.#finish(connection.exchanges[0])
    })
  }

  /**
   * Returns undefined if the request must be ignored: its connection ends, or has too many
   * requests.
   */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined {
    const connection = connectionOf(request.socket)
    if (connection === undefined || connection.isEnding) return undefined
    if (connection.socket.destroyed) return undefined
    if (isPipelining(connection, this.#loopTurn())) {
      this.#options.onEnd('pipelined')
      ignoreRest(connection)
      return undefined
    }
    const exchange = createExchange(connection, request, response, this.#options.clock.now())
    connection.exchanges.push(exchange)
    connection.unwanted = undefined
    this.#evictionOrder.touch(connection)
    response.on('close', this.#onResponseClose)
    if (this.#isLeaving) {
      connection.isEnding = true
      response.setHeader('connection', 'close')
    }
    return exchange
  }

  /** Notes the API key of the connection's first request that has a valid one. */
  authenticated(connection: Connection, apiKeyId: string): void {
    this.#evictionOrder.remove(connection)
    connection.apiKeyId = apiKeyId
  }

  all(): Iterable<Connection> {
    return this.#open
  }

  isEmpty(): boolean {
    return this.#open.size === 0
  }

  counts(): { open: number; inFlight: number } {
    let inFlight = 0
    for (const { exchanges } of this.#open) inFlight += exchanges.length
    return { open: this.#open.size, inFlight }
  }

  end(connection: Connection, reason: EndReason): void {
    if (connection.socket.destroyed) return
    this.#options.onEnd(reason)
    connection.socket.destroy()
    this.#forget(connection)
  }

  /** From now on every connection closes with its next response: its client goes elsewhere. */
  leave(): void {
    this.#isLeaving = true
  }

  /**
   * From now on every connection is closed as soon as it has no request in progress. The sweep
   * closes new ones, whose first request may be on its way.
   */
  drain(): void {
    this.#isClosing = true
    for (const connection of this.#open) if (isIdle(connection)) this.end(connection, 'closing')
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection)
    this.#evictionOrder.remove(connection)
  }

  readonly #finish = (exchange: Exchange): void => {
    const { connection, request } = exchange
    exchange.isOver = true
    // It is usually the first, because responses are sent in the order of their requests.
    if (connection.exchanges[0] === exchange) connection.exchanges.shift()
    else connection.exchanges.splice(connection.exchanges.indexOf(exchange), 1)
    if (exchange.onEnd !== undefined) for (const onEnd of exchange.onEnd) onEnd()
    this.#options.onExchangeEnd(exchange, this.#options.clock.now() - exchange.startedAt)
    if (connection.socket.destroyed) return
    // If the socket's writable side has ended, `closeInStages` is already closing the connection.
    if (connection.socket.writableEnded) {
      if (!request.complete) abortOnClose(request)
      this.#evictionOrder.rest(connection)
      return
    }
    if (!request.complete) {
      // Discards the rest of the body, which is small. If the rest may be large, the error handler
      // sends `connection: close` instead (see `unwantedBytesMax`).
      connection.unwanted = { request, ms: 0 }
      request.resume()
    }
    if (connection.exchanges.length > 0) return
    if (this.#isClosing) this.end(connection, 'closing')
    else this.#evictionOrder.rest(connection)
  }
}

/**
 * Numbers the turns of the event loop with a call; counting the others would wake an idle process.
 */
function createLoopTurn(): () => number {
  let turn = 0
  let isCounted = false

  function end(): void {
    turn++
    isCounted = false
  }

  return () => {
    if (!isCounted) {
      isCounted = true
      setImmediate(end)
    }
    return turn
  }
}

/** Whether it can be closed without loss: it is not new, has no request and is not closing. */
export const isIdle = ({ exchanges, turn, sweeps, socket }: Connection): boolean =>
  exchanges.length === 0 && (turn >= 0 || sweeps >= 2) && !socket.writableEnded

function isPipelining(connection: Connection, turn: number): boolean {
  if (connection.turn !== turn) {
    connection.turn = turn
    connection.begunInTurn = 0
  }
  connection.begunInTurn++
  return connection.exchanges.length === pipelinedMax || connection.begunInTurn > pipelinedMax
}

/**
 * Node does not abort it once the response has been sent, but a handler may still read the body.
 */
function abortOnClose(request: IncomingMessage): void {
  request.socket.once('close', () => request.destroy(new Error('The connection has closed.')))
}

function createConnection(socket: Socket, evictionOrder: EvictionOrder): Connection {
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
    place: nowhere(),
    makeEvictable() {
      // If the client has disconnected before its request fails, there is no connection to evict.
      if (!socket.destroyed) evictionOrder.rest(connection)
    },
  }
  return connection
}
