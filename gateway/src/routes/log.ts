import type { FastifyInstance } from 'fastify'
import { LogCreated, LogSubmission } from '@intake/contract'
import { requireRoom } from '../admission.ts'
import { leaseBody, whileLeased } from '../body-lease.ts'
import { identify, idempotencyKey, logContent } from '../idempotency.ts'
import { documentHeaders } from '../openapi.ts'
import { authorizeBundle } from '../plugins/authenticate.ts'
import { jsonBody } from '../plugins/json-body.ts'
import { logRow, senderColumns } from '../row.ts'
import { errorResponses } from './error-responses.ts'
import type { LogRouteOptions } from './log-route-options.ts'

/**
 * `POST /api/log`: one application log event.
 *
 * @param options.bodyBytesMax also after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: LogRouteOptions & { bodyBytesMax: number },
): Promise<void> {
  const { logs, admission, reservations, budget, enqueueDeadlineMs, bodyBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax: bodyBytesMax })

  app.post<{ Body: LogSubmission }>(
    '/api/log',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [requireRoom(admission, 'logs'), leaseBody(budget, bodyBytesMax)],
      config: documentHeaders('idempotency-key', 'content-encoding'),
      schema: {
        operationId: 'createLog',
        summary: 'Submit an application log event',
        description: `At most ${bodyBytesMax} bytes; may be compressed with \`Content-Encoding: gzip\`.`,
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogSubmission,
        response: { 201: LogCreated, ...errorResponses },
      },
    },
    whileLeased(async (request, reply) => {
      const { apiKey, body } = request
      authorizeBundle(apiKey, body.bundle_identifier)
      const { event, params } = body.log
      const log = { event, params: params ?? {} }
      const deadline = performance.now() + enqueueDeadlineMs
      const identity = await identify({
        reservations,
        scope: 'logs',
        deviceUuid: body.device_uuid,
        key: idempotencyKey(request),
        content: logContent(body, log),
        deadline,
      })
      await logs.append(logRow(identity, senderColumns(apiKey.id, body), log), deadline)
      reply.code(201)
      return { message: 'Log successfully created', id: identity.id }
    }),
  )
}
