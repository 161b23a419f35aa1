import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey, ApiKeyDirectory } from '@intake/access'
import type { AllowedOrigins } from '@intake/config'
import { IntakeError } from '@intake/contract'
import type { HttpEdge } from '@intake/http-edge'
import type { Admission } from './admission.ts'
import { checkOrigin } from './cors.ts'
import type { AddressLimit } from './limit-addresses.ts'
import { limited } from './room.ts'

/**
 * Requires a valid `x-api-key` on every route of its scope, before a byte of the body is read.
 *
 * @param options.allowed the origins whose pages may send records
 * @param options.failures limits the failed authentications of each client address. Beyond the
 * limit, a request without a valid key gets 429 with `Retry-After` instead of 401; requests with a
 * valid key are not affected.
 */
export const authenticate = fp(
  async (
    app: FastifyInstance,
    options: {
      apiKeys: Pick<ApiKeyDirectory, 'isLoaded' | 'find'>
      admission: Admission
      connections: HttpEdge['connections']
      allowed: AllowedOrigins
      failures: AddressLimit
    },
  ) => {
    const { apiKeys, admission, connections, allowed, failures } = options
    app.addHook('onRequest', (request, _reply, done) => {
      // Before the key is looked up, refuses the request with 503 if Redis is down or has lost its
      // data. The keys are in Redis, so a key that is not found may still be valid, and a 401 would
      // make its client give up.
      admission.checkQueue()
      if (!apiKeys.isLoaded()) {
        throw new IntakeError('queue_unavailable', 'The API keys have not been read yet.')
      }
      const key = findKey(apiKeys, request)
      if (key === undefined)
        throw failures.take(request.raw)
          ? unauthorized()
          : limited(tooManyFailures, failures.msLeft())
      request.apiKey = key
      requireActive(key)
      checkOrigin(request.raw, { origins: key.origins, allowed })
      connections.authenticated(request.raw, key.id)
      done()
    })
  },
  { name: 'authenticate' },
)

function findKey(apiKeys: Pick<ApiKeyDirectory, 'find'>, request: FastifyRequest) {
  const secret = request.headers['x-api-key']
  return typeof secret === 'string' ? apiKeys.find(secret) : undefined
}

function requireActive({ suspendedAt }: ApiKey): void {
  if (suspendedAt === null) return
  throw new IntakeError('key_suspended', 'The API key is suspended; keep what is not sent.')
}

const unauthorized = () =>
  new IntakeError('unauthorized', 'Send a valid API key in the x-api-key header.')

const tooManyFailures = 'This address has sent too many requests without a valid API key.'

/**
 * Returns the API key of a request in its current state: it may have been suspended, revoked or
 * changed while the body arrived, which can take hours.
 *
 * @throws {IntakeError} `key_suspended`, `unauthorized`
 */
export function requireKeyNow(
  apiKeys: Pick<ApiKeyDirectory, 'find'>,
  request: FastifyRequest,
): ApiKey {
  const key = findKey(apiKeys, request)
  if (key === undefined) throw unauthorized()
  requireActive(key)
  return key
}
