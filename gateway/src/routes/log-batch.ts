import type { FastifyInstance } from 'fastify'
import {
  compileSchema,
  IntakeError,
  limits,
  LogBatchEnvelope,
  LogBatchResult,
  LogBatchSubmission,
  LogEntry,
  type LogVerdict,
} from '@intake/contract'
import { requireRoom } from '../admission.ts'
import { holdBody } from '../byte-budget.ts'
import { appendAll } from '../group-commit.ts'
import { identify, idempotencyKey, keyOfUuid } from '../idempotency.ts'
import { createIdentity, partOf } from '../identity.ts'
import { checkJson } from '../json.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { authorizeBundle } from '../plugins/authenticate.ts'
import { jsonBody } from '../plugins/json-body.ts'
import { logRow, senderColumns, type Row } from '../row.ts'
import { errorResponses } from './error-responses.ts'
import type { LogRouteOptions } from './log-route-options.ts'

const validateEnvelope = compileSchema(LogBatchEnvelope)
const validateEntry = compileSchema(LogEntry)
/** An entry lies two levels below the document. */
const entryDepthMax = limits.jsonDepth - 2

/**
 * `POST /api/log/batch`: log events of one device. Each is taken or refused on its own, so that one
 * bad event never blocks the others.
 */
export async function logBatchRoute(
  app: FastifyInstance,
  options: LogRouteOptions & {
    bodyBytesMax: number
    /** After decompression. */
    jsonBytesMax: number
    metrics: GatewayMetrics
  },
): Promise<void> {
  const { logs, admission, reservations, budget, enqueueDeadlineMs, metrics } = options
  const { bodyBytesMax, jsonBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax })

  app.post(
    '/api/log/batch',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [requireRoom(admission, 'logs'), holdBody(budget, bodyBytesMax)],
      // The entries are checked one by one, below; and there are too many for a generic serializer.
      validatorCompiler: () => () => true,
      serializerCompiler: () => JSON.stringify,
      schema: {
        operationId: 'createLogBatch',
        summary: 'Submit up to 500 application log events of one device',
        description:
          'Every entry is accepted or rejected on its own; the answer has a verdict for each. ' +
          `At most ${bodyBytesMax} bytes; may be compressed with \`Content-Encoding: gzip\`, of then ` +
          `at most ${jsonBytesMax} bytes of JSON.`,
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogBatchSubmission,
        response: { 207: LogBatchResult, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { apiKey } = request
      const batch = validateEnvelope(request.body)
      checkJson({ ...batch, logs: [] })
      authorizeBundle(apiKey, batch.bundle_identifier)
      const deadline = performance.now() + enqueueDeadlineMs
      const identifyBy = (key: string, content: unknown) =>
        identify({
          reservations,
          kind: 'logs',
          deviceUuid: batch.device_uuid,
          key,
          content: [batch.bundle_identifier, batch.unique_user_id, content],
          deadline,
        })

      const batchKey = idempotencyKey(request)
      const whole = batchKey === undefined ? undefined : await identifyBy(batchKey, batch.logs)
      const sender = senderColumns(apiKey.id, batch)
      const readEntry = async (value: unknown, index: number): Promise<Row> => {
        checkJson(value, entryDepthMax)
        const entry = validateEntry(value, `/logs/${index}`)
        const ownKey = keyOfUuid(entry.id)
        if (ownKey !== undefined) return logRow(await identifyBy(ownKey, entry), sender, entry)
        return logRow(whole === undefined ? createIdentity() : partOf(whole, index), sender, entry)
      }
      const entries = await Promise.all(
        batch.logs.map((value, index) => readEntry(value, index).catch(rejection)),
      )
      const rows: Row[] = []
      for (const entry of entries) {
        if (entry instanceof IntakeError) metrics.entryRejected(entry.code)
        else rows.push(entry)
      }
      await appendAll(logs, rows, deadline)

      reply.code(207)
      return {
        message: 'Logs processed',
        accepted: rows.length,
        rejected: entries.length - rows.length,
        results: entries.map(verdict),
      }
    },
  )
}

/** Why an entry is rejected. What concerns the whole request is thrown on. */
function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}

function verdict(entry: Row | IntakeError): LogVerdict {
  if (!(entry instanceof IntakeError)) return { status: 'accepted', id: entry.id }
  const { code, message, errors } = entry
  return { status: 'rejected', code, detail: message, errors: [...errors] }
}
