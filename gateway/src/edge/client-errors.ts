import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorCatalogue, IntakeError } from '@intake/contract'
import { connections } from './exchange.ts'
import { problem, problemType } from './problem.ts'
import type { Refusals } from './refusals.ts'

/**
 * Responds to what the HTTP parser refused: too slow, header too large, or not HTTP. It closes the
 * connection without a response in three cases: a complete request on the connection still waits for
 * its response, and the client would take this one for it; the request that could not be parsed already
 * has its response; or the client disconnected in the middle. A refusal that is being sent closes the
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

/** Writes a problem to a connection that the HTTP server has given up, and closes it. */
export function refuseSocket(socket: Socket, error: IntakeError, refusals: Refusals): void {
  const requestId = randomUUID()
  refusals.note({ error, requestId, apiKeyId: undefined, kind: '', records: 1 })
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
