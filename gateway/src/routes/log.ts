import type { FastifyInstance } from 'fastify'
import { limits, LogCreated, LogSubmission } from '@intake/contract'
import type { LogSteps } from '../accept/log.ts'
import { requireCapacity } from '../admission/admission.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { jsonBody } from '../body/json-body.ts'
import { errorResponses } from './error-responses.ts'
import { documentHeaders } from './openapi.ts'
import type { RouteOptions } from './route-options.ts'

/**
 * `POST /api/log`: one application log event.
 *
 * @param options.bodyBytesMax applies before and after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: RouteOptions & { steps: LogSteps; bodyBytesMax: number },
): Promise<void> {
  const { accept, steps, admission, budget, turns, bodyBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax, nodesMax: limits.jsonNodes, turns })

  app.post(
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
      const { identified } = await accept(steps, request)
      reply.code(201)
      return { message: 'Log successfully created', id: identified.id }
    }),
  )
}
