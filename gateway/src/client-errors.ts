import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorCatalogue, IntakeError } from '@intake/contract'
import { connections } from './exchange.ts'
import { problem, problemType } from './plugins/problems.ts'
import type { Refusals } from './refusals.ts'

/**
 * Responds to what the HTTP parser refused: too slow, too large a header, or not HTTP at all. When a
 * complete request on the same connection still waits for its response, a response here would be taken
 * for that one: then the connection just ends, which says "maybe". It just ends, too, when the request
 * that could not be parsed to its end has had its response, or when its client has gone in the middle. A refusal that is just being sent ends the
 * connection itself.
 */
export function answerClientErrors(refusals: Refusals) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const connection = connections.get(socket)
    const due = connection?.exchanges[0]
    if (connection?.isEnding === true && due !== undefined) {
      socket.pause()
      return
    }
    const isAnswerable =
      due === undefined
        ? connection?.unwanted === undefined
        : !due.request.complete && !due.response.headersSent
    const isGone = error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE'
    if (isGone || !socket.writable || !isAnswerable) socket.destroy()
    else refuseSocket(socket, clientError(error.code), refusals)
  }
}

/** Writes a problem to a connection that the HTTP server has given up, and ends it. */
export function refuseSocket(socket: Socket, error: IntakeError, refusals: Refusals): void {
  const requestId = randomUUID()
  refusals.note({ error, requestId, apiKeyId: undefined })
  const body = JSON.stringify(problem(error, requestId))
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
      `Content-Type: ${problemType}\r\n` +
      (errorCatalogue[error.code].retryable ? 'Retry-After: 1\r\n' : '') +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

function clientError(code: string | undefined): IntakeError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new IntakeError('request_timeout', 'The request did not arrive in time.')
    case 'HPE_HEADER_OVERFLOW':
      return new IntakeError('headers_too_large', 'Send fewer or shorter header fields.')
    default:
      return new IntakeError('malformed_http', 'The request cannot be parsed.')
  }
}
