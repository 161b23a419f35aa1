import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorCatalogue, IntakeError } from '@intake/contract'
import { connectionOf, failIncomplete, whenEnded, type Connection } from './exchange.ts'
import { closeInStages, discardRest } from './linger.ts'
import type { Refuse } from './refuse.ts'

/**
 * Creates the handler for what Node's HTTP server refuses: a header that arrives too slowly or is
 * too large, or bytes that are not HTTP. The handler ends the connection; nothing that follows is
 * parsed. Requests that were parsed still get their responses, in order. If the header of the last
 * response has not been sent yet, that response says that the connection closes, and the last
 * request is refused if its body is incomplete. If no request waits for its response, the handler
 * sends an error response, unless a client could mistake it for the response to an earlier request.
 */
export function createClientErrorHandler(refuse: Refuse, keepAliveTimeoutMs: number) {
  return (cause: NodeJS.ErrnoException, socket: Socket): void => {
    // A proxy may open a connection before it needs one, and would take a response for that to its
    // next request. Until the first byte, the connection is idle.
    if (cause.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
      socket.setTimeout(keepAliveTimeoutMs)
      return
    }
    // A connection that is already closing needs no response. If no client can read a response, the
    // connection is destroyed.
    if (socket.destroyed || socket.writableEnded) return
    if (cause.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const error = clientError(cause.code)
    if (endAfterResponses(socket, error)) return
    const connection = connectionOf(socket)
    const hasHadRequests = connection !== undefined && connection.turn >= 0
    if (
      cause.code === 'HPE_INVALID_EOF_STATE' ||
      connection?.unwanted !== undefined ||
      (hasHadRequests && cause.code === 'HPE_INVALID_METHOD')
    ) {
      closeInStages(socket)
    } else {
      refuseSocket(socket, error, refuse)
    }
  }
}

/**
 * Ignores all further bytes on a connection, and closes it after the responses to the requests that
 * have arrived. If the body of the latest request is incomplete, that request fails with `error`.
 *
 * @returns whether the connection has requests whose responses are not complete
 */
export function endAfterResponses(socket: Socket, error: IntakeError): boolean {
  const connection = connectionOf(socket)
  const last = connection?.exchanges.at(-1)
  if (connection === undefined || last === undefined) return false
  if (connection.isBroken) return true
  connection.isBroken = true
  connection.isEnding = true
  discardRest(socket)
  const { request, response } = last
  // The header that was sent may promise a persistent connection, so the server would not close the
  // connection. It is therefore closed here, after the response.
  if (response.headersSent) whenEnded(last, response, () => closeInStages(socket))
  else {
    response.setHeader('connection', 'close')
    if (!request.complete) failIncomplete(last, error)
  }
  return true
}

/**
 * Ignores the rest of what a client sends, and closes the connection after the responses to the
 * requests that `begin` has accepted. The parser still processes the bytes that Node has just read
 * from the socket, but no bytes that arrive later.
 */
export function ignoreRest(connection: Connection): void {
  const { socket } = connection
  connection.isEnding = true
  dropStacks(socket)
  process.nextTick(() => {
    const error = new IntakeError('malformed_http', 'Too many requests without a response.')
    if (!endAfterResponses(socket, error)) closeInStages(socket)
  })
}

/**
 * Disables stack traces while a connection closes, because Node then creates an error for each
 * request that is cut off. One read can hold a thousand requests, and their stack traces would cost
 * more than everything else.
 */
function dropStacks(socket: Socket): void {
  const { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0))
  socket.once('close', () => (Error.stackTraceLimit = stackTraceLimit))
}

export function refuseSocket(socket: Socket, error: IntakeError, refuse: Refuse): void {
  const { type, body, fields = {} } = refuse(error, undefined)
  const further = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
      `Date: ${new Date().toUTCString()}\r\n` +
      `Content-Type: ${type}\r\n` +
      further.join('') +
      (errorCatalogue[error.code].retryable ? 'Retry-After: 1\r\n' : '') +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
  closeInStages(socket)
}

function clientError(code: string | undefined): IntakeError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new IntakeError('request_timeout', 'The request did not arrive in time.')
    case 'HPE_INVALID_EOF_STATE':
      return new IntakeError('malformed_http', 'The body ended early.')
    case 'HPE_HEADER_OVERFLOW':
      return new IntakeError('headers_too_large', 'Send fewer or shorter header fields.')
    default:
      return new IntakeError('malformed_http', 'The request cannot be parsed.')
  }
}
