import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { IntakeError } from '@intake/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { endAfterResponses, refuseSocket } from './client-errors.ts'
import type { Connections } from './connections.ts'
import type { Cors } from './cors.ts'
import { ignoreFollowing, type Handler } from './exchange.ts'
import type { Gate } from './fairness/fair-gate.ts'
import type { Refuse } from './refuse.ts'
import { hasUnusualBody, headerFieldsMax, headProblem } from './request-head.ts'
import type { Sweep } from './sweep.ts'

interface Admitting {
  connections: Connections
  /** Undefined: requests are served at once. */
  gate: Gate | undefined
  refuse: Refuse
  cors: Cors | undefined
}

/** Enforces the connection limits, and refuses requests whose heads are not acceptable. */
export function createEdgeServer(
  options: Admitting & {
    sweep: Sweep
    headersTimeoutMs: number
    keepAliveTimeoutMs: number
    handler: Handler
  },
): Server {
  const { connections, sweep, gate, refuse, handler } = options
  const admit = createAdmit(options)
  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs,
      // Disables Node's timeout for a whole request, because the sweep limits the time for bodies.
      requestTimeout: 0,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      // By default Node checks for slow headers only every 30 s.
      connectionsCheckingInterval: 2_000,
      requireHostHeader: false,
    },
    admit(handler),
  )
  server.maxHeadersCount = headerFieldsMax + 1
  server.prependListener('connection', (socket) => {
    connections.open(socket)
    gate?.connected()
    sweep.start()
  })
  const continues = admit((request, response) => {
    awaitingContinue.add(request)
    handler(request, response)
  })
  server.on('checkContinue', continues)
  const refusesExpectation = admit((request, response) => {
    const error = new IntakeError('expectation_failed', 'Only 100-continue is supported.')
    refuseRequest(request, response, { error, refuse })
  })
  server.on('checkExpectation', refusesExpectation)
  // Without this listener, Node would close the connection of a CONNECT request without a response.
  server.on('connect', (_request, socket: Socket) => {
    // Node has removed its own listener for `error`. Without one, an error would end the process.
    socket.on('error', () => socket.destroy())
    const error = new IntakeError('malformed_http', 'This is not a proxy.')
    if (!endAfterResponses(socket, error)) refuseSocket(socket, error, refuse)
  })
  // A client may close its half of the connection after its last request. With this option it still
  // gets the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('close', sweep.stop)
  return server
}

/** The handler gets requests with acceptable heads, when the gate lets them pass. */
function createAdmit(options: Admitting): (serve: Handler) => Handler {
  const { connections, gate, refuse, cors } = options
  return (serve) => {
    const servePage = cors?.wrap(serve) ?? serve

    function pass(request: IncomingMessage, response: ServerResponse): void {
      const error = headProblem(request)
      if (error !== undefined) return refuseRequest(request, response, { error, refuse })
      if (hasUnusualBody(request)) {
        ignoreFollowing(request)
        response.setHeader('connection', 'close')
      }
      // Browsers name the page that sends a request; other clients have no page.
      const isOfPage = request.headers.origin !== undefined || request.method === 'OPTIONS'
      if (isOfPage) servePage(request, response)
      else serve(request, response)
    }

    return (request, response) => {
      if (connections.begin(request, response) === undefined) return
      if (gate === undefined || gate.enter()) {
        pass(request, response)
        return
      }
      gate.wait(request, () => {
        // The connection may have closed while the request waited.
        if (!request.socket.destroyed) pass(request, response)
      })
    }
  }
}

/** Requests whose clients send the body only after `100 Continue`. */
const awaitingContinue = new WeakSet<IncomingMessage>()

/** If it is refused while it waits, it is not known whether the client will send the body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return awaitingContinue.has(request)
}

/** Sends `100 Continue` only when the body is wanted. */
export const expectContinue = fp(
  async (app: FastifyInstance) => {
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (!request.is404 && awaitingContinue.delete(request.raw)) reply.raw.writeContinue()
      done()
    })
  },
  { name: 'expect-continue' },
)

function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { error, refuse }: { error: IntakeError; refuse: Refuse },
): void {
  const { type, body, fields } = refuse(error, request)
  ignoreFollowing(request)
  response.writeHead(error.status, {
    ...fields,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
  response.end(body)
}
