import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { IntakeError } from '@intake/contract'
import { refuseSocket } from './client-errors.ts'
import type { Connections } from './connections.ts'
import { createFairDispatch } from './fair-dispatch.ts'
import { ignoreFollowing, isResponseDue } from './exchange.ts'
import { lingering } from './linger.ts'
import { awaitContinue } from './plugins/expect-continue.ts'
import { problem, problemType } from './plugins/problems.ts'
import type { Refusals } from './refusals.ts'
import { headerFieldsMax, headProblem } from './request-head.ts'
import type { Sweep } from './sweep.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const keepAliveTimeoutMs = 72_000
/** About two milliseconds of work. */
const requestsPerTurn = 32

/**
 * The HTTP server in front of the framework: keeps the connections within their limits and refuses
 * requests by their heads.
 */
export function createEdgeServer(options: {
  connections: Connections
  sweep: Sweep
  refusals: Refusals
  headersTimeoutMs: number
  /** Whose request it is: requests of different accounts take turns. */
  accountOf: (request: IncomingMessage) => string
  handler: Handler
}): Server {
  const { connections, sweep, refusals, accountOf, handler } = options
  const dispatch = createFairDispatch({ perTurn: requestsPerTurn })

  /** Passes on what can be served. */
  function admit(serve: Handler): Handler {
    return (request, response) => {
      if (connections.begin(request, response) === undefined) return
      dispatch(accountOf(request), () => {
        // Its connection may have ended while it waited.
        if (request.socket.destroyed) return
        const refusal = headProblem(request)
        if (refusal === undefined) serve(request, response)
        else refuse(request, response, refusal)
      })
    }
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: IntakeError): void {
    const requestId = randomUUID()
    refusals.note({ error, requestId, apiKeyId: undefined })
    const body = JSON.stringify(problem(error, requestId))
    ignoreFollowing(request)
    response.writeHead(error.status, {
      'content-type': problemType,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    // A client that has gone needs no response.
    pipeline(lingering(body, request), response, () => {})
  }

  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs,
      // The sweep looks after bodies.
      requestTimeout: 0,
      keepAliveTimeout: keepAliveTimeoutMs,
      // Without the interval Node looks for slow headers only every 30 s.
      connectionsCheckingInterval: 2_000,
      requireHostHeader: false,
    },
    admit(handler),
  )
  server.maxHeadersCount = headerFieldsMax + 1
  server.prependListener('connection', (socket) => connections.open(socket))
  server.on(
    'checkContinue',
    admit((request, response) => {
      awaitContinue(request, response)
      handler(request, response)
    }),
  )
  server.on(
    'checkExpectation',
    admit((request, response) => {
      const error = new IntakeError('expectation_failed', 'Only 100-continue is supported.')
      refuse(request, response, error)
    }),
  )
  // CONNECT; without a listener the connection would just end.
  server.on('connect', (_request, socket: Socket) => {
    // Node takes its own listener away before.
    socket.on('error', () => socket.destroy())
    // A response now would be taken for that of an earlier request, which still waits for its own.
    if (isResponseDue(socket)) socket.destroy()
    else refuseSocket(socket, new IntakeError('malformed_http', 'This is no proxy.'), refusals)
  })
  server.on('listening', sweep.start)
  server.on('close', sweep.stop)
  return server
}
