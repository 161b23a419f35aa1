import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiKey, ApiKeyDirectory } from '@intake/access'
import { IntakeError } from '@intake/contract'
import type { Admission } from './admission.ts'
import type { HttpEdge } from '@intake/http-edge'

declare module 'fastify' {
  interface FastifyRequest {
    /** The API key of the sender; set before the body of any write operation is read. */
    apiKey: ApiKey | undefined
  }
}

/** Requires a valid `x-api-key` on every route of its scope, before a byte of the body is read. */
export const authenticate = fp(
  async (
    app: FastifyInstance,
    options: {
      apiKeys: Pick<ApiKeyDirectory, 'isLoaded' | 'find'>
      admission: Admission
      connections: HttpEdge['connections']
    },
  ) => {
    const { apiKeys, admission, connections } = options
    app.decorateRequest('apiKey')
    app.addHook('onRequest', (request, _reply, done) => {
      // Redis also holds the API keys: without it no client can be authenticated, and a 401 would
      // make clients give up.
      admission.checkQueue()
      if (!apiKeys.isLoaded()) {
        throw new IntakeError('queue_unavailable', 'The API keys have not been read yet.')
      }
      const secret = request.headers['x-api-key']
      const key = typeof secret === 'string' ? apiKeys.find(secret) : undefined
      if (key === undefined) {
        throw new IntakeError('unauthorized', 'Send a valid API key in the x-api-key header.')
      }
      request.apiKey = key
      connections.authenticated(request.raw, key.id)
      done()
    })
  },
  { name: 'authenticate' },
)

/** The API key of a request that has passed `authenticate`. */
export function requireApiKey({ apiKey }: FastifyRequest): ApiKey {
  if (apiKey === undefined) throw new Error('the request has not been authenticated')
  return apiKey
}
