import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import type { Tracing } from '@intake/tracing'
import { exchangeOf, whenEnded } from '@intake/http-edge'

/**
 * Traces the requests of the Fastify scope in which it is registered. A `traceparent` from the
 * client is ignored, because otherwise anybody with an API key could decide what is traced.
 */
export const traceRequests = fp(
  async (app: FastifyInstance, { tracing }: { tracing: Tracing | undefined }) => {
    if (tracing === undefined) return
    app.addHook('onRequest', (request, reply, done) => {
      const { method, id, routeOptions } = request
      const span = tracing.startRequest({ method, route: routeOptions.url ?? '', id })
      if (span !== undefined) {
        request.span = span
        whenEnded(exchangeOf(request.raw), reply.raw, () => {
          const status = reply.raw.writableFinished ? reply.raw.statusCode : undefined
          span.end({ status, apiKeyId: request.apiKey?.id })
        })
      }
      done()
    })
  },
  { name: 'trace-requests' },
)
