import rateLimit from '@fastify/rate-limit'
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { IntakeError } from '@intake/contract'

const noHeaders = {
  'x-ratelimit-limit': false,
  'x-ratelimit-remaining': false,
  'x-ratelimit-reset': false,
}

/**
 * Counts the requests of each API key in the memory of this process: no I/O, nothing that can fail a
 * request. The limit is therefore per gateway. Register it after authentication.
 */
export const limitRate = fp(
  async (app: FastifyInstance, options: { max: number; windowMs: number }) => {
    await app.register(rateLimit, {
      // As a global hook it would run after the hooks of each route, which lease shared capacity.
      global: false,
      max: options.max,
      timeWindow: options.windowMs,
      cache: 10_000,
      keyGenerator: (request) => request.apiKey.id,
      addHeaders: { ...noHeaders, 'retry-after': true },
      addHeadersOnExceeding: noHeaders,
      errorResponseBuilder: () =>
        new IntakeError('rate_limited', 'Wait as long as Retry-After says.'),
    })
    app.addHook('onRequest', app.rateLimit())
  },
  { name: 'limit-rate' },
)
