import type { FastifyRequest } from 'fastify'
import { IntakeError, limits } from '@intake/contract'
import { compileSchema, LogBatchEnvelope, type LogBatchResult } from '@intake/contract/schemas'
import type { Clock } from '@intake/runtime'
import { checkJson, countNodes, type ParsedJson, rowJson } from '@intake/json'
import { mapInTurns, type SenderTurns, type Turns } from '@intake/http-edge'
import { type IdempotencyStore } from '@intake/identity'
import type { GroupCommit } from '../commit/group-commit.ts'
import { submissionFields, unknownFields } from '../record/extra.ts'
import type { Settled } from '../report/outcomes.ts'
import { requireLease } from '../request.ts'
import type { Acceptance } from './acceptance.ts'
import { createEntryReader } from './batch-entries.ts'
import { assignIdentities } from './batch-identities.ts'
import { batchResult } from './batch-results.ts'
import { createLogPrinter, rowsOf } from './log-record.ts'

const validateEnvelope = compileSchema(LogBatchEnvelope)
const knownFields = submissionFields('logs')

/** Validates the body, except its entries: an invalid entry does not affect the others. */
function readBatch(request: FastifyRequest) {
  // The body is undefined if the request has none.
  const parsed = request.body as ParsedJson | undefined
  const batch = validateEnvelope(parsed?.value)
  request.records = batch.logs.length
  // Otherwise `checkJson` must check each entry.
  const isPlain = parsed?.isPlain === true && parsed.entryNodes <= limits.jsonNodes
  if (!isPlain || parsed.nodes > limits.jsonNodes) checkJson({ ...batch, logs: [] })
  return { batch, isPlain, bytes: parsed?.bytes ?? 0 }
}

/**
 * Returns a function that accepts the log events of a batch: it resolves when those that are
 * accepted are stored.
 *
 * @param options.sharedBytesMax the maximum size, in all rows together, of the data that every row
 * repeats: the sender's columns and the batch's unknown fields
 */
export function createAcceptBatch(options: {
  acceptance: Acceptance
  logs: GroupCommit
  idempotency: IdempotencyStore
  turns: Turns
  sharedBytesMax: number
  clock: Pick<Clock, 'now'>
}) {
  const { acceptance, logs, idempotency, turns, sharedBytesMax, clock } = options

  return async (request: FastifyRequest): Promise<Settled<LogBatchResult>> => {
    const { batch, isPlain, bytes } = readBatch(request)
    const size = { kind: 'logs', records: batch.logs.length, attachmentBytes: 0, bytes } as const
    const admitted = acceptance.admit(request, batch, size)
    const { context, rules } = admitted
    const unknown = unknownFields(batch, knownFields)
    const printer = createLogPrinter(admitted, unknown, isPlain ? JSON.stringify : rowJson)
    leaseShared(request, {
      shared: printer.shared(),
      entries: batch.logs.length,
      bytesMax: sharedBytesMax,
    })
    const inTurns: SenderTurns = {
      takeTurn: (work) => turns.take(context.apiKeyId, work),
      clock,
    }
    const read = createEntryReader({ printer, rules, isChecked: isPlain })
    const entries = await mapInTurns(batch.logs, inTurns, read)
    const terms = acceptance.terms(admitted)
    await assignIdentities(entries, { store: idempotency, admitted, terms, turns: inTurns })
    // Completes all rows at once, without waiting for the sender's turn: this copies no text, and
    // takes only 0.1 ms for the largest batch.
    if (acceptance.isStored(admitted)) {
      await logs.append(rowsOf(entries, context), terms.deadline)
    }
    return acceptance.settle(admitted, entries, batchResult(entries))
  }
}

/**
 * Charges to the lease what every row repeats. Otherwise a small request with a large `device`
 * would use much uncharged memory.
 *
 * @throws {IntakeError} `body_too_large` when all rows together would repeat more than `bytesMax`
 * bytes, or more members and elements than a batch may have
 */
function leaseShared(
  request: FastifyRequest,
  { shared, entries, bytesMax }: { shared: string; entries: number; bytesMax: number },
): void {
  const bytes = Buffer.byteLength(shared) * entries
  const nodesMax = limits.batchJsonNodes
  // A text cannot have more nodes (members and elements) than bytes. Counting nodes costs more than
  // everything else in this function, so it is done only if the bytes exceed the maximum number of
  // nodes.
  const isOverNodes =
    bytes > nodesMax && countNodes(Buffer.from(shared), Infinity) * entries > nodesMax
  if (bytes > bytesMax || isOverNodes) {
    const detail = 'The device and unknown fields are too large for so many entries.'
    throw new IntakeError('body_too_large', detail)
  }
  requireLease(request).extend(bytes)
}
