import type { FastifyInstance } from 'fastify'
import {
  compileSchema,
  IntakeError,
  limits,
  LogBatchEnvelope,
  LogBatchResult,
  LogBatchSubmission,
} from '@intake/contract'
import type { Identity } from '@intake/identity'
import { requireCapacity } from '../admission/admission.ts'
import { leaseBody, whileLeased } from '../body/body-lease.ts'
import { createExtraPrinter, submissionFields, unknownFields } from '../record/extra.ts'
import { appendAll } from '../commit/group-commit.ts'
import { idempotencyKey } from '../identity/idempotency-key.ts'
import { checkJson } from '../body/check-json.ts'
import { createNodeCounter } from '../body/json-nodes.ts'
import { createEntryReader, type Entry, type Outcome } from '../accept/batch-entries.ts'
import { assignIdentities, type Repeat } from '../accept/batch-identities.ts'
import { mapInTurns, type TakeTurn } from '../admission/fairness/in-turns.ts'
import { entryResults } from '../accept/batch-results.ts'
import { documentHeaders } from './openapi.ts'
import { authorizeBundle } from '../accept/authorize-bundle.ts'
import { makeWellFormed } from '../accept/well-formed-sender.ts'
import { jsonBody } from '../body/json-body.ts'
import type { Refusals } from '../report/refusals.ts'
import { finishRow, senderColumns, type RequestContext, type Row } from '../record/row.ts'
import { errorResponses } from './error-responses.ts'
import type { LogRouteOptions } from './log-route-options.ts'

const validateEnvelope = compileSchema(LogBatchEnvelope)
const knownFields = submissionFields('logs')

/**
 * `POST /api/log/batch`: log events of one device. Each is accepted or rejected on its own, so an
 * invalid event does not affect the others.
 */
export async function logBatchRoute(
  app: FastifyInstance,
  options: LogRouteOptions & {
    bodyBytesMax: number
    /** After decompression. */
    jsonBytesMax: number
    entryBytesMax: number
    refusals: Refusals
  },
): Promise<void> {
  const { logs, outcomes, admission, contextOf, idempotency, policy, budget, turns } = options
  const { enqueueTimeoutMs, refusals } = options
  const { bodyBytesMax, jsonBytesMax, entryBytesMax } = options
  await app.register(jsonBody, { jsonBytesMax, nodesMax: limits.batchJsonNodes, turns })

  app.post(
    '/api/log/batch',
    {
      bodyLimit: bodyBytesMax,
      onRequest: [requireCapacity(admission, 'logs'), leaseBody(budget, bodyBytesMax)],
      // The entries are checked one by one below, and there are too many for a generic serializer.
      validatorCompiler: () => () => true,
      serializerCompiler: () => JSON.stringify,
      config: documentHeaders('idempotency-key', 'content-encoding'),
      schema: {
        operationId: 'createLogBatch',
        summary: 'Submit up to 500 application log events of one device',
        description:
          'Every entry is accepted or rejected on its own; the response has a result for each. ' +
          'An entry whose `id` is a UUIDv7 is stored once, however often it is sent. An entry with ' +
          'another id, or in a batch with an `Idempotency-Key`, is stored once within 72 hours. Any other ' +
          'entry is stored again each time. ' +
          `At most ${bodyBytesMax} bytes, ${entryBytesMax} for an entry with the device; with ` +
          `\`Content-Encoding: gzip\` at most ${jsonBytesMax} bytes after decompression, or ` +
          `${limits.losslessJsonBytes} characters with an integer beyond 2^53 or an escape in a name. ` +
          `At most ${limits.batchJsonNodes} members and elements, ${limits.jsonNodes} in an entry.`,
        tags: ['intake'],
        security: [{ apiKey: [] }],
        body: LogBatchSubmission,
        response: { 207: LogBatchResult, ...errorResponses },
      },
    },
    whileLeased(async (request, reply) => {
      const { apiKey } = request
      const batch = validateEnvelope(request.body)
      request.records = batch.logs.length
      checkJson({ ...batch, logs: [] })
      makeWellFormed(batch)
      authorizeBundle(apiKey, batch.bundle_identifier)
      const context = contextOf(request)
      const extra = createExtraPrinter(unknownFields(batch, knownFields), 'log')
      const sender = senderColumns(context, batch)
      // Every row repeats both, so a large device multiplies a small request. Limit them to what a large
      // request may have.
      const shared = Buffer.from(sender + (extra.print(undefined) ?? ''))
      const repeated = shared.length * batch.logs.length
      const repeatedNodes = createNodeCounter(Infinity).add(shared) * batch.logs.length
      if (repeated > bodyBytesMax || repeatedNodes > limits.batchJsonNodes) {
        const detail = 'The device and unknown fields are too large for so many entries.'
        throw new IntakeError('body_too_large', detail)
      }
      request.bodyLease.extend(repeated)

      const readEntry = createEntryReader({ sender, extra, bytesMax: entryBytesMax })
      const takeTurn: TakeTurn = (work) => turns.take(apiKey.id, work)
      const entries = await mapInTurns(batch.logs, takeTurn, readEntry)
      const deadline = performance.now() + enqueueTimeoutMs
      const identities = await assignIdentities({
        store: idempotency,
        batch,
        entries,
        key: idempotencyKey(request),
        context,
        retentionMs: policy.retentionMs('logs'),
        takeTurn,
        deadline,
      })
      const { receivedAtMs } = context
      const finish = () => finishRows({ entries, identities, context })
      const { rows, results } = await takeTurn(finish)
      const isSuppressed = policy.isSuppressed(batch)
      if (!isSuppressed) await appendAll(logs, rows, deadline)

      const rejected = results.filter((result) => result instanceof IntakeError)
      const accepted = results.length - rejected.length
      if (accepted > 0) {
        outcomes.count({
          apiKeyId: apiKey.id,
          kind: 'logs',
          code: isSuppressed ? 'suppressed' : 'accepted',
          atMs: receivedAtMs,
          records: accepted,
        })
      }
      refusals.noteEntries({ errors: rejected, requestId: request.id, apiKeyId: apiKey.id })
      reply.code(207)
      return {
        message: 'Logs processed',
        accepted,
        rejected: rejected.length,
        results: entryResults(results),
      }
    }),
  )
}

/** The rows to store, and the result of each entry. */
function finishRows(batch: {
  entries: Outcome<Entry>[]
  identities: Outcome<Identity | Repeat>[]
  context: RequestContext
}): { rows: Row[]; results: Outcome<Row>[] } {
  const { entries, identities, context } = batch
  const rows: Row[] = []
  const results: Outcome<Row>[] = []
  for (const [index, entry] of entries.entries()) {
    const identity = identities[index]!
    if (entry instanceof IntakeError) results.push(entry)
    else if (identity instanceof IntakeError) results.push(identity)
    else if ('of' in identity) results.push(results[identity.of]!)
    else {
      const row = finishRow({ identity, context, others: entry.columns })
      rows.push(row)
      results.push(row)
    }
  }
  return { rows, results }
}
