import type { FastifyInstance } from 'fastify'
import { LogCreated, LogSubmission } from '@intake/contract'
import type { GroupCommit } from '../group-commit.ts'
import { authorizeBundle } from '../plugins/authenticate.ts'
import { jsonBody } from '../plugins/json-body.ts'
import { createIdentity, logRow } from '../row.ts'
import { errorResponses } from './error-responses.ts'

/** `POST /api/log`: one application log event. */
export async function logRoute(
  app: FastifyInstance,
  options: { logs: GroupCommit },
): Promise<void> {
  await app.register(jsonBody)

  app.post<{ Body: LogSubmission }>(
    '/api/log',
    {
      schema: {
        operationId: 'createLog',
        summary: 'Submit an application log event',
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogSubmission,
        response: { 201: LogCreated, ...errorResponses },
      },
    },
    async (request, reply) => {
      authorizeBundle(request.apiKey, request.body.bundle_identifier)
      const identity = createIdentity()
      await options.logs.append(logRow(identity, request.apiKey.id, request.body))
      reply.code(201)
      return { message: 'Log successfully created', id: identity.id }
    },
  )
}
