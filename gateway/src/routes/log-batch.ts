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
import { leaseBody, whileLeased } from '../body-lease.ts'
import { appendAll } from '../group-commit.ts'
import { identify, idempotencyKey, keyOfUuid, logContent, type KeyScope } from '../idempotency.ts'
import { createIdentity, partOf } from '../identity.ts'
import { checkJson } from '../json.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { documentHeaders } from '../openapi.ts'
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
    /** After decompression, and of all rows together that repeat the sender. */
    jsonBytesMax: number
    entryBytesMax: number
    metrics: GatewayMetrics
  },
): Promise<void> {
  const { logs, admission, reservations, budget, enqueueDeadlineMs, metrics } = options
  const { bodyBytesMax, jsonBytesMax, entryBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax })

  app.post(
    '/api/log/batch',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [requireRoom(admission, 'logs'), leaseBody(budget, bodyBytesMax)],
      // The entries are checked one by one, below; and there are too many for a generic serializer.
      validatorCompiler: () => () => true,
      serializerCompiler: () => JSON.stringify,
      config: documentHeaders('idempotency-key', 'content-encoding'),
      schema: {
        operationId: 'createLogBatch',
        summary: 'Submit up to 500 application log events of one device',
        description:
          'Every entry is accepted or rejected on its own; the answer has a verdict for each. ' +
          'An entry with an `id`, or any entry of a batch with an `Idempotency-Key`, may be sent ' +
          'again within 72 hours and stays one event; others are stored again. ' +
          `At most ${bodyBytesMax} bytes, ${entryBytesMax} for an entry with the device; with ` +
          `\`Content-Encoding: gzip\` at most ${jsonBytesMax} bytes after decompression.`,
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogBatchSubmission,
        response: { 207: LogBatchResult, ...errorResponses },
      },
    },
    whileLeased(async (request, reply) => {
      const { apiKey } = request
      const batch = validateEnvelope(request.body)
      checkJson({ ...batch, logs: [] })
      authorizeBundle(apiKey, batch.bundle_identifier)
      const entries = batch.logs.map(readEntry)
      const sender = senderColumns(apiKey.id, batch)
      // Every row repeats the sender, so a large device makes much out of a small request.
      const repeated = sender.length * entries.length
      if (repeated > jsonBytesMax) {
        throw new IntakeError('body_too_large', 'The device is too large for so many entries.')
      }
      request.bodyLease.extend(repeated)

      const deadline = performance.now() + enqueueDeadlineMs
      const identifyBy = (scope: KeyScope, key: string, content: readonly unknown[]) =>
        identify({ reservations, scope, deviceUuid: batch.device_uuid, key, content, deadline })
      const contentOf = (entry: LogEntry | IntakeError) =>
        entry instanceof IntakeError ? [] : logContent(batch, entry)

      const batchKey = idempotencyKey(request)
      const whole =
        batchKey === undefined
          ? undefined
          : await identifyBy('batches', batchKey, entries.map(contentOf))
      const rowOf = async (entry: LogEntry, index: number): Promise<Row> => {
        const ownKey = keyOfUuid(entry.id)
        const identity =
          ownKey !== undefined
            ? await identifyBy('logs', ownKey, contentOf(entry))
            : whole === undefined
              ? createIdentity()
              : partOf(whole, index)
        const row = logRow(identity, sender, entry)
        if (Buffer.byteLength(row.json) <= entryBytesMax) return row
        throw new IntakeError('body_too_large', `An entry must not exceed ${entryBytesMax} bytes.`)
      }
      const outcomes = await Promise.all(
        entries.map(async (entry, index) =>
          entry instanceof IntakeError ? entry : rowOf(entry, index).catch(rejection),
        ),
      )
      const rows = outcomes.flatMap((outcome) => (outcome instanceof IntakeError ? [] : [outcome]))
      await appendAll(logs, rows, deadline)

      for (const outcome of outcomes) {
        if (outcome instanceof IntakeError) metrics.entryRejected(outcome.code)
      }
      reply.code(207)
      return {
        message: 'Logs processed',
        accepted: rows.length,
        rejected: outcomes.length - rows.length,
        results: outcomes.map(verdict),
      }
    }),
  )
}

/** An entry, or why it is rejected. */
function readEntry(value: unknown, index: number): LogEntry | IntakeError {
  try {
    checkJson(value, entryDepthMax)
    return validateEntry(value, `/logs/${index}`)
  } catch (error) {
    return rejection(error)
  }
}

/** Why an entry is rejected. What concerns the whole request is thrown on. */
function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}

function verdict(outcome: Row | IntakeError): LogVerdict {
  if (!(outcome instanceof IntakeError)) return { status: 'accepted', id: outcome.id }
  const { code, message, errors } = outcome
  return { status: 'rejected', code, detail: message, errors: [...errors] }
}
