import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { IntakeError } from '@intake/contract'
import { requireApiKey } from './authenticate.ts'
import type { FleetRate } from './fleet-rate.ts'

/**
 * Limits the requests of each API key. It does no I/O, so it cannot fail a request. Each response
 * has the limit, the remaining requests and the seconds until the window ends, as this gateway
 * knows them (`x-ratelimit-*`). Register it after authentication.
 *
 * @param options.max requests in a window of `windowMs`, which `rate` counts
 */
export const limitRate = fp(
  async (
    app: FastifyInstance,
    options: { max: number; windowMs: number; rate: Pick<FleetRate, 'count'> },
  ) => {
    await app.register(rateLimit, {
      // A global hook would run after the hooks of each route, which lease shared capacity.
      global: false,
      max: options.max,
      timeWindow: options.windowMs,
      store: storeOf(options.rate),
      keyGenerator: (request) => requireApiKey(request).id,
      errorResponseBuilder: () =>
        new IntakeError('rate_limited', 'Wait as long as Retry-After says.'),
    })
    app.addHook('onRequest', app.rateLimit())
  },
  { name: 'limit-rate' },
)

/** A store class for the plugin, which constructs the store itself. */
function storeOf(rate: Pick<FleetRate, 'count'>) {
  return class implements FastifyRateLimitStore {
    incr(key: string, done: (error: null, result: { current: number; ttl: number }) => void): void {
      const { requests, msLeft } = rate.count(key)
      done(null, { current: requests, ttl: msLeft })
    }

    child(): FastifyRateLimitStore {
      return this
    }
  }
}
