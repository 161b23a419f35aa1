import type { FastifyInstance } from 'fastify'
import { limits, LogCreated, LogSubmission } from '@intake/contract'
import type { Admission } from '../admission.ts'
import { holdBody, type ByteBudget } from '../byte-budget.ts'
import type { GroupCommit } from '../group-commit.ts'
import { identify, idempotencyKey, type Reservations } from '../idempotency.ts'
import { authorizeBundle } from '../plugins/authenticate.ts'
import { jsonBody } from '../plugins/json-body.ts'
import { logRow } from '../row.ts'
import { errorResponses } from './error-responses.ts'

/** `POST /api/log`: one application log event. */
export async function logRoute(
  app: FastifyInstance,
  options: {
    logs: GroupCommit
    admission: Admission
    reservations: Reservations
    budget: ByteBudget
    enqueueDeadlineMs: number
  },
): Promise<void> {
  const { logs, admission, reservations, budget, enqueueDeadlineMs } = options
  await app.register(jsonBody)

  app.post<{ Body: LogSubmission }>(
    '/api/log',
    {
      onRequest: [async () => admission.checkRoom('logs'), holdBody(budget, limits.logBodyBytes)],
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
      const { apiKey, body } = request
      authorizeBundle(apiKey, body.bundle_identifier)
      const deadline = performance.now() + enqueueDeadlineMs
      const identity = await identify({
        reservations,
        kind: 'logs',
        deviceUuid: body.device_uuid,
        key: idempotencyKey(request),
        // Without the device: its battery goes down between two attempts.
        content: [body.bundle_identifier, body.unique_user_id, body.log],
        deadline,
      })
      await logs.append(logRow(identity, apiKey.id, body), deadline)
      reply.code(201)
      return { message: 'Log successfully created', id: identity.id }
    },
  )
}
