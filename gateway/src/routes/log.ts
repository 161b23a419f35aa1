import type { FastifyInstance } from 'fastify'
import { limits, LogCreated, LogSubmission } from '@intake/contract'
import { requireCapacity } from '../admission/admission.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { createAcceptLog } from '../accept/log.ts'
import { idempotencyKey } from '../identity/idempotency-key.ts'
import { documentHeaders } from './openapi.ts'
import { authorizeBundle } from '../accept/authorize-bundle.ts'
import { makeWellFormed } from '../accept/well-formed-sender.ts'
import { jsonBody } from '../body/json-body.ts'
import { errorResponses } from './error-responses.ts'
import type { LogRouteOptions } from './log-route-options.ts'

/**
 * `POST /api/log`: one application log event.
 *
 * @param options.bodyBytesMax applies before and after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: LogRouteOptions & { bodyBytesMax: number },
): Promise<void> {
  const { admission, contextOf, budget, turns, bodyBytesMax } = options
  const acceptLog = createAcceptLog(options)
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax, nodesMax: limits.jsonNodes, turns })

  app.post<{ Body: LogSubmission }>(
    '/api/log',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [requireCapacity(admission, 'logs'), leaseBody(budget, bodyBytesMax)],
      config: documentHeaders('idempotency-key', 'content-encoding'),
      schema: {
        operationId: 'createLog',
        summary: 'Submit an application log event',
        description:
          `At most ${bodyBytesMax} bytes and ${limits.jsonNodes} members and elements; may be ` +
          'compressed with `Content-Encoding: gzip`.',
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogSubmission,
        response: { 201: LogCreated, ...errorResponses },
      },
    },
    whileLeased(async (request, reply) => {
      const { apiKey, body } = request
      makeWellFormed(body)
      authorizeBundle(apiKey, body.bundle_identifier)
      const id = await acceptLog({
        body,
        key: idempotencyKey(request),
        context: contextOf(request),
      })
      reply.code(201)
      return { message: 'Log successfully created', id }
    }),
  )
}
