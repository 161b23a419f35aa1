import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { IntakeError } from '@intake/contract'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A request and its response, until the response has been sent or the connection has ended. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  /** The time (`clock.now()`) at which the request's head arrived. */
  readonly startedAt: number
  /** True once the response has been sent, or the connection has ended. */
  isOver: boolean
  /**
   * Fails the request: the error becomes the response. Each step for which the request waits sets
   * this function; after the step, a call has no effect. Undefined before the first step and after
   * a failure.
   */
  fail: ((error: IntakeError) => void) | undefined
  /** The error that the first step fails with, if the request was broken before that step began. */
  failure: IntakeError | undefined
  onEnd: (() => void)[] | undefined
  /** The size, including framing, at which the sweep refuses the body. */
  bodyBytesMax: number
  /** What the sweeps have found. Undefined before the first sweep; most exchanges end before it. */
  progress: Progress | undefined
}

/** State that `judgeExchange` keeps for an exchange between two sweeps. */
export interface Progress {
  bytesRead: number
  /** Bytes of the body, including framing, that arrived after the first sweep. */
  bodyBytes: number
  /** By how many bytes the body is ahead of the minimum rate. */
  bytesAhead: number
  /** How long the request has been waiting for this process. */
  processingMs: number
  /** How long the finished response has been waiting for the client to read it. */
  unreadMs: number
}

/** An open connection and its requests in progress. */
export interface Connection {
  readonly socket: Socket
  /** The id of the API key of the connection's first request that had a valid key. */
  apiKeyId: string | undefined
  /** After fewer than two sweeps, its first request may not have been read yet. */
  sweeps: number
  /** The exchanges in the order of their requests, which is also the order of their responses. */
  readonly exchanges: Exchange[]
  /** The turn of the event loop in which its latest request began, and how many began then. */
  turn: number
  begunInTurn: number
  /** The response to the latest request is the last one; later requests are ignored. */
  isEnding: boolean
  /** All further bytes are discarded; it closes after the response to its latest request. */
  isBroken: boolean
  /** A body that still arrives after the response to its request has been sent. */
  unwanted: { request: IncomingMessage; ms: number } | undefined
  readonly place: Place
  /** Makes the connection evictable like an idle connection. */
  readonly makeEvictable: () => void
}

/**
 * A place in a list of connections. The links are in the connections themselves, so a connection is
 * moved without a search. A `Set` instead would be expensive: moving a connection in it takes half
 * as long as routing a request.
 */
export interface Place {
  list: ConnectionList | undefined
  before: Connection | undefined
  after: Connection | undefined
}

export interface ConnectionList {
  first: Connection | undefined
  last: Connection | undefined
  size: number
}

// Sockets and requests have these symbols as properties. A WeakMap would cost more, because each
// object is looked up several times per request.
const connectionKey = Symbol('connection')
const exchangeKey = Symbol('exchange')

type WithConnection = Socket & { [connectionKey]?: Connection }
type WithExchange = IncomingMessage & { [exchangeKey]?: Exchange }

export function connectionOf(socket: Socket): Connection | undefined {
  return (socket as WithConnection)[connectionKey]
}

export function registerConnection(connection: Connection): void {
  ;(connection.socket as WithConnection)[connectionKey] = connection
}

/**
 * Undefined once it is over, and for a request that did not arrive over a connection (`inject`).
 */
export function exchangeOf(request: IncomingMessage): Exchange | undefined {
  const exchange = (request as WithExchange)[exchangeKey]
  return exchange?.isOver === false ? exchange : undefined
}

export function createExchange(
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  startedAt: number,
): Exchange {
  const exchange: Exchange = {
    request,
    response,
    connection,
    startedAt,
    isOver: false,
    fail: undefined,
    failure: undefined,
    onEnd: undefined,
    bodyBytesMax: Infinity,
    progress: undefined,
  }
  ;(request as WithExchange)[exchangeKey] = exchange
  return exchange
}

/**
 * Ignores everything that follows a refused request on its connection. The response must say that
 * the connection closes. Until the client has read the response, the connection may be evicted like
 * an idle connection, unless earlier requests on it wait for their responses.
 */
export function ignoreFollowing(request: IncomingMessage): void {
  const connection = connectionOf(request.socket)
  if (connection === undefined) return
  connection.isEnding = true
  if (connection.exchanges.length <= 1) connection.makeEvictable()
}

/**
 * Lets the request fail while `work` is running (see `Exchange.fail`). Settles like `work`. If the
 * request fails first, rejects with its error and ignores the result of `work`.
 *
 * @param exchange undefined if the request did not arrive over a connection
 */
export function failable<Result>(
  exchange: Exchange | undefined,
  work: Promise<Result>,
): Promise<Result> {
  if (exchange === undefined || exchange.isOver) return work
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    beginStep(exchange, reject)
  })
}

/** `fail` ends the step with an error; called at once if the exchange already has a `failure`. */
export function beginStep(exchange: Exchange, fail: (error: IntakeError) => void): void {
  if (exchange.failure === undefined) exchange.fail = fail
  else fail(exchange.failure)
}

/** Fails a request whose body will never be complete: at once, or when its first step begins. */
export function failIncomplete(exchange: Exchange, error: IntakeError): void {
  exchange.failure = error
  exchange.fail?.(error)
  exchange.fail = undefined
}

/**
 * Calls `onEnd` once, when the response has been sent or the connection has ended.
 *
 * @param exchange undefined if the request did not arrive over a connection
 */
export function whenEnded(
  exchange: Exchange | undefined,
  response: ServerResponse,
  onEnd: () => void,
): void {
  // If the connection closes while this response is queued behind another, this response emits no
  // event. The exchange, if there is one, ends in any case.
  if (exchange === undefined) response.once('close', onEnd)
  // The array is created with its first element, because an empty array that grows would allocate
  // room for seventeen elements.
  else if (exchange.onEnd === undefined) exchange.onEnd = [onEnd]
  else exchange.onEnd.push(onEnd)
}
