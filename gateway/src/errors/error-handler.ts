import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import fp from 'fastify-plugin'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue, type IntakeError, problem, problemType } from '@intake/contract'
import {
  awaitsContinue,
  ignoreFollowing,
  unwantedBytesMax,
  type Cors,
  type Refuse,
} from '@intake/http-edge'
import { asIntakeError, isGone } from './framework-errors.ts'
import { kindOfPath } from '../report/operation.ts'
import { noRoute } from './no-route.ts'
import { mayBeStored } from '../commit/may-be-stored.ts'
import type { Outcomes } from '../report/outcomes.ts'

export const errorHandler = fp(
  async (app: FastifyInstance, options: { outcomes: Pick<Outcomes, 'refused'> }) => {
    const respond = (error: IntakeError, request: FastifyRequest, reply: FastifyReply) => {
      // A client that has disconnected gets no response, so no refusal is counted.
      if (!isGone(request)) noteRefusal(options.outcomes, error, request)
      // The body is no longer needed.
      request.bodyLease?.release()
      if (!mayBeStored(error)) request.charge?.giveBack()
      return sendProblem(error, request, reply)
    }
    app.setErrorHandler((error: FastifyError, request, reply) => {
      // For some methods Fastify reports a missing content type although no route has the method.
      // Such a request gets the error for a missing route instead.
      const isUnrouted = error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
      const refusal = isUnrouted ? noRoute(app, request, reply) : asIntakeError(error, request)
      return respond(refusal, request, reply)
    })
    app.setNotFoundHandler((request, reply) =>
      respond(noRoute(app, request, reply), request, reply),
    )
  },
  { name: 'error-handler' },
)

/** Responds to requests whose URL the router cannot parse. */
export function answerFrameworkErrors(outcomes: Pick<Outcomes, 'refused'>) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = asIntakeError(error, request)
    noteRefusal(outcomes, refusal, request)
    void sendProblem(refusal, request, reply)
  }
}

/**
 * Counts what the edge refuses, and makes the body of the response.
 *
 * @param cors undefined if pages of other origins may not read the response
 */
export function refuseAtEdge(
  outcomes: Pick<Outcomes, 'refused'>,
  cors: Pick<Cors, 'covers' | 'fields'> | undefined,
): Refuse {
  return (error, request) => {
    const requestId = randomUUID()
    const kind = request === undefined ? '' : kindOfPath(request.url)
    outcomes.refused({ error, requestId, apiKeyId: undefined, kind, records: 1 })
    // Bytes that are not a request have no path, so `covers` cannot decide whether pages may read
    // the response. Pages may read it, because a page may have sent the bytes.
    const isReadable = cors !== undefined && (request === undefined || cors.covers(request))
    const fields = isReadable ? cors.fields : undefined
    return { type: problemType, body: JSON.stringify(problem(error, requestId)), fields }
  }
}

function noteRefusal(
  outcomes: Pick<Outcomes, 'refused'>,
  error: IntakeError,
  request: FastifyRequest,
): void {
  const { id: requestId, apiKey, records = 1 } = request
  // Uses the path of the route, because a client can write the same path in several ways.
  const kind = kindOfPath(request.routeOptions.url ?? request.url)
  outcomes.refused({ error, requestId, apiKeyId: apiKey?.id, kind, records })
}

function sendProblem(
  error: IntakeError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { retryAfterSeconds: usual, status } = errorCatalogue[error.code]
  if (status === 401) reply.header('www-authenticate', 'ApiKey')
  if (usual !== undefined && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', String(error.retryAfterSeconds ?? spread(usual)))
  }
  const body = JSON.stringify(problem(error, request.id))
  reply.code(status).type(problemType).serializer(asIs)
  // The edge has set this header on the raw response if the connection must close after it.
  if (reply.raw.hasHeader('connection')) {
    ignoreFollowing(request.raw)
    return reply.send(body)
  }
  // Removes the header that Fastify sets to close the connection after every body that was not read
  // to its end.
  reply.removeHeader('connection')
  const isAwaited = !awaitsContinue(request.raw) && isSmall(request.headers)
  if (request.raw.complete || isAwaited) return reply.send(body)
  ignoreFollowing(request.raw)
  return reply.header('connection', 'close').send(body)
}

const asIs = (body: unknown) => body as string

/** Whether the body is small enough to be discarded, so that the connection can remain. */
function isSmall(headers: IncomingHttpHeaders): boolean {
  return (
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) <= unwantedBytesMax
  )
}

/** Clients that were refused together must not retry together. */
function spread(seconds: number): number {
  return Math.ceil(seconds * (seconds === 1 ? 1 : 1 + Math.random()))
}
