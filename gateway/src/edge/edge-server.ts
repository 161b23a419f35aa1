import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { IntakeError } from '@intake/contract'
import { endAfterResponses, refuseSocket } from './client-errors.ts'
import type { Connections } from './connections.ts'
import { createFairDispatch } from '../admission/fairness/fair-dispatch.ts'
import { ignoreFollowing } from './exchange.ts'
import { awaitContinue } from './expect-continue.ts'
import { kindOfPath } from '../report/operation.ts'
import { problem, problemType } from '../errors/problem.ts'
import type { Refusals } from '../report/refusals.ts'
import { headerFieldsMax, headProblem } from './request-head.ts'
import type { Sweep } from './sweep.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Longer than load balancers keep idle connections (60 s, some 600): one that both ends close at the same time
 * loses a request. Idle connections make room for new ones, so keeping them costs nothing.
 */
const keepAliveTimeoutMs = 620_000
/** Takes about two milliseconds. */
const requestsPerTurn = 32

/**
 * The HTTP server in front of the framework: enforces the connection limits, and refuses requests by
 * their heads.
 */
export function createEdgeServer(options: {
  connections: Connections
  sweep: Sweep
  refusals: Refusals
  headersTimeoutMs: number
  /** The account of a request: requests of different accounts take turns. */
  accountOf: (request: IncomingMessage) => string
  handler: Handler
}): Server {
  const { connections, sweep, refusals, accountOf, handler } = options
  const dispatch = createFairDispatch({ perTurn: requestsPerTurn })

  /** Wraps `serve` so that it gets only valid requests. */
  function admit(serve: Handler): Handler {
    return (request, response) => {
      if (connections.begin(request, response) === undefined) return
      dispatch(accountOf(request), () => {
        // The connection may have closed while the request waited.
        if (request.socket.destroyed) return
        const refusal = headProblem(request)
        if (refusal === undefined) serve(request, response)
        else refuse(request, response, refusal)
      })
    }
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: IntakeError): void {
    const requestId = randomUUID()
    const kind = kindOfPath(request.url)
    refusals.note({ error, requestId, apiKeyId: undefined, kind, records: 1 })
    const body = JSON.stringify(problem(error, requestId))
    ignoreFollowing(request)
    response.writeHead(error.status, {
      'content-type': problemType,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    response.end(body)
  }

  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs,
      // The sweep limits the time of bodies.
      requestTimeout: 0,
      keepAliveTimeout: keepAliveTimeoutMs,
      // By default Node checks for slow headers only every 30 s.
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
      awaitContinue(request)
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
  // CONNECT. Without a listener the connection would be closed without a response.
  server.on('connect', (_request, socket: Socket) => {
    // Node has removed its own error listener.
    socket.on('error', () => socket.destroy())
    const error = new IntakeError('malformed_http', 'This is not a proxy.')
    if (!endAfterResponses(socket, error)) refuseSocket(socket, error, refusals)
  })
  // A client that has nothing more to send may close its half of the connection before the
  // response.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('listening', sweep.start)
  server.on('close', sweep.stop)
  return server
}
