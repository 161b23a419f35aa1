import type { FastifyInstance } from 'fastify'
import { limits, LogCreated, LogSubmission } from '@intake/contract'
import { requireCapacity } from '../admission/admission.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { createExtraPrinter, submissionFields, unknownFields } from '../record/extra.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs } from '../identity/event-time.ts'
import {
  clientIdKey,
  fingerprintOf,
  idempotencyKey,
  logContent,
} from '../identity/idempotency-key.ts'
import { documentHeaders } from '../openapi.ts'
import { authorizeBundle } from './authorize-bundle.ts'
import { jsonBody } from '../body/json-body.ts'
import { finishRow, logColumns, senderColumns } from '../record/row.ts'
import { errorResponses } from './error-responses.ts'
import { readLog } from '../record/log-fields.ts'
import type { LogRouteOptions } from './log-route-options.ts'

const knownFields = submissionFields('log')

/**
 * `POST /api/log`: one application log event.
 *
 * @param options.bodyBytesMax applies before and after decompression
 */
export async function logRoute(
  app: FastifyInstance,
  options: LogRouteOptions & { bodyBytesMax: number },
): Promise<void> {
  const { logs, admission, idempotency, budget, turns, enqueueTimeoutMs, bodyBytesMax } = options
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
      authorizeBundle(apiKey, body.bundle_identifier)
      const { log, unknown } = readLog(body.log)
      const nowMs = admission.now()
      const deadline = performance.now() + enqueueTimeoutMs
      const identity = await assignIdentity({
        store: idempotency,
        scope: 'logs',
        apiKeyId: apiKey.id,
        sender: body,
        clientId: clientIdKey(log.id),
        key: idempotencyKey(request),
        nowMs,
        timeMs: eventTimeMs(log.timestamp, nowMs),
        fingerprint: () => fingerprintOf(logContent(body, log)),
        deadline,
      })
      const extra = createExtraPrinter(unknownFields(body, knownFields), 'log').print(unknown)
      const context = { apiKeyId: apiKey.id, requestId: request.id, receivedAtMs: nowMs }
      const columns = logColumns(senderColumns(context, body), log, extra)
      await logs.append(finishRow(identity, columns), deadline)
      reply.code(201)
      return { message: 'Log successfully created', id: identity.id }
    }),
  )
}
