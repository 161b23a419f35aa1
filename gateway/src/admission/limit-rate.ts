import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { IntakeError, limits, type RecordKind } from '@intake/contract'
import { requireApiKey } from '../request.ts'
import type { KeyLimiter } from './key-limits.ts'

/**
 * Limits the requests of each API key. Register it after authentication. It does no I/O, so it
 * works without Redis. It adds the header fields of draft-ietf-httpapi-ratelimit-headers-06 to the
 * response: the limit (`ratelimit-limit`), the remaining requests (`ratelimit-remaining`) and the
 * seconds until the window ends (`ratelimit-reset`). The values are those that this gateway knows.
 */
export const limitRate = fp(
  async (app: FastifyInstance, { limiter }: { limiter: KeyLimiter }) => {
    await app.register(rateLimit, {
      // Does not add the plugin's hook to each route, where it would run after the route's own
      // hooks. The route's hooks lease shared capacity, which a request over the limit must not
      // take. So `addHook` below adds the plugin's hook to run before the route's hooks.
      global: false,
      max: (request) => limiter.requestsMax(requireApiKey(request)),
      timeWindow: limits.rateWindowMs,
      store: storeOf(limiter),
      keyGenerator: (request) => requireApiKey(request).id,
      enableDraftSpec: true,
      errorResponseBuilder: () =>
        new IntakeError('rate_limited', 'Wait as long as Retry-After says.'),
    })
    app.addHook('onRequest', app.rateLimit())
  },
  { name: 'limit-rate' },
)

/** Creates a store class for the plugin, because the plugin constructs the store itself. */
function storeOf(limiter: Pick<KeyLimiter, 'countRequest'>) {
  return class implements FastifyRateLimitStore {
    incr(key: string, done: (error: null, result: { current: number; ttl: number }) => void): void {
      const { requests, msLeft } = limiter.countRequest(key)
      done(null, { current: requests, ttl: msLeft })
    }

    child(): FastifyRateLimitStore {
      return this
    }
  }
}

/**
 * Creates a hook that refuses a request before its body is read if its key may send no more records
 * of this kind.
 */
export function requireAllowance(limiter: Pick<KeyLimiter, 'requireAllowance'>, kind: RecordKind) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    limiter.requireAllowance(requireApiKey(request), kind)
    done()
  }
}
