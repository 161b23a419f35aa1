import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import type { RequestSpan, Tracing } from '@intake/tracing'
import { whenEnded } from '@intake/http-edge'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if the request is not traced. */
    span: RequestSpan | undefined
  }
}

/**
 * Traces the requests of its scope.
 *
 * @param options.tracing undefined if tracing is off
 * @param options.clientTraceparent whether a client's `traceparent` decides in which trace a
 * request is
 */
export const traceRequests = fp(
  async (
    app: FastifyInstance,
    options: { tracing: Tracing | undefined; clientTraceparent: 'ignore' | 'trust' },
  ) => {
    const { tracing } = options
    const isTrusted = options.clientTraceparent === 'trust'
    app.decorateRequest('span')
    if (tracing === undefined) return
    app.addHook('onRequest', (request, reply, done) => {
      const { method, id, headers } = request
      const { traceparent } = headers
      const span = tracing.startRequest({
        method,
        route: request.routeOptions.url ?? '',
        id,
        traceparent: isTrusted && typeof traceparent === 'string' ? traceparent : undefined,
      })
      if (span !== undefined) {
        request.span = span
        whenEnded(request.raw, reply.raw, () => {
          const status = reply.raw.writableFinished ? reply.raw.statusCode : undefined
          span.end({ status, apiKeyId: request.apiKey?.id })
        })
      }
      done()
    })
  },
  { name: 'trace-requests' },
)
