import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { errorCatalogue, IntakeError } from '@intake/contract'
import type { GatewayMetrics } from '../metrics.ts'
import { problem, problemType } from './problems.ts'

const waitsForContinue = new WeakSet<IncomingMessage>()

/**
 * Requests that never reach a route: `Expect: 100-continue` is answered only after authentication,
 * so that a refused upload is not sent at all; any other expectation gets 417.
 */
export const httpEdge = fp(
  async (app: FastifyInstance, options: { metrics: GatewayMetrics }) => {
    app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      waitsForContinue.add(request)
      // Unless it is told to go on, the client may or may not send the body.
      response.setHeader('connection', 'close')
      app.routing(request, response)
    })
    app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      const error = new IntakeError('expectation_failed', 'Only 100-continue is supported.')
      options.metrics.refused(error.code)
      response.writeHead(error.status, { 'content-type': problemType, connection: 'close' })
      response.end(JSON.stringify(problem(error, randomUUID())))
      request.resume()
    })
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (waitsForContinue.delete(request.raw) && !request.is404) {
        // While the server closes, the header is right for another reason.
        if (app.server.listening) reply.raw.removeHeader('connection')
        reply.raw.writeContinue()
      }
      done()
    })
  },
  { name: 'http-edge' },
)

/**
 * Answers what the HTTP parser refused: too slow, too large a header, or not HTTP at all. When a
 * complete request on the same connection still waits for its answer, an answer here would be taken
 * for that one: then the connection just ends, which says "maybe". It just ends, too, when the request
 * was refused before its body had come, and the body never did.
 */
export function answerClientErrors(metrics: GatewayMetrics) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    // Node keeps the response that is due next on the socket, and its own handler looks there too. The
    // parser has the request whose body is coming.
    const { _httpMessage: due, parser } = socket as SocketOfServer
    const answered = !due && parser?.incoming?.complete === false
    const answerable = due ? !due.req.complete && !due.headersSent : !answered
    if (error.code === 'ECONNRESET' || !socket.writable || !answerable) {
      socket.destroy()
      return
    }
    const refusal = clientError(error.code)
    metrics.refused(refusal.code)
    writeProblem(socket, refusal)
  }
}

type SocketOfServer = Socket & {
  _httpMessage?: ServerResponse | null
  parser?: { incoming?: IncomingMessage | null } | null
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

function writeProblem(socket: Socket, error: IntakeError): void {
  const body = JSON.stringify(problem(error, randomUUID()))
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
      `Content-Type: ${problemType}\r\n` +
      (errorCatalogue[error.code].retryable ? 'Retry-After: 1\r\n' : '') +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
