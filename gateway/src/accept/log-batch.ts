import type { FastifyRequest } from 'fastify'
import { compileSchema, IntakeError, limits, LogBatchEnvelope } from '@intake/contract'
import type { Identity } from '@intake/identity'
import type { Clock } from '@intake/runtime'
import { mapInTurns, type TakeTurn } from '../admission/fairness/in-turns.ts'
import type { Turns } from '../admission/fairness/turns.ts'
import { requireLease } from '../body/body-lease.ts'
import { checkJson } from '../body/check-json.ts'
import { createNodeCounter } from '../body/json-nodes.ts'
import type { ParsedJson } from '../body/json.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import { createExtraPrinter, submissionFields, unknownFields } from '../record/extra.ts'
import type { RequestContext } from '../record/request-context.ts'
import { finishRow, senderColumns, type Row } from '../record/row.ts'
import type { Steps } from './accept.ts'
import { createEntryReader, type Entry, type OrRejection } from './batch-entries.ts'
import { assignIdentities, type Repeat } from './batch-identities.ts'

const validateEnvelope = compileSchema(LogBatchEnvelope)
const knownFields = submissionFields('logs')

interface PreparedBatch {
  entries: OrRejection<Entry>[]
  takeTurn: TakeTurn
}

export interface IdentifiedBatch {
  /** The rows to store. */
  rows: Row[]
  /** The result of each entry, in their order. */
  results: OrRejection<Row>[]
  accepted: number
  rejected: IntakeError[]
}

/** A valid envelope whose entries have not been read. */
interface SentBatch {
  batch: LogBatchEnvelope
  /** See `ParsedJson.isPlain`; also, no entry has too many members and elements. */
  isPlain: boolean
  /** The size of the JSON. */
  bytes: number
}

export type BatchSteps = Steps<SentBatch, PreparedBatch, IdentifiedBatch>

/**
 * How the log events of a batch are accepted, each on its own: an invalid one does not affect the
 * others.
 *
 * @param options.sharedBytesMax the maximum of this product: bytes of the device and the unknown
 * fields of the batch × number of entries
 * @param options.entryBytesMax maximum size of an entry, including the device
 */
export function createBatchSteps(options: {
  logs: GroupCommit
  idempotency: IdempotencyStore
  turns: Turns
  sharedBytesMax: number
  entryBytesMax: number
  clock: Pick<Clock, 'now'>
}): BatchSteps {
  const { logs, idempotency, turns, sharedBytesMax, entryBytesMax, clock } = options
  return {
    kind: 'logs',
    read: readEnvelope,
    senderOf: ({ batch }) => batch,
    sizeOf: ({ batch, bytes }) => ({ records: batch.logs.length, attachmentBytes: 0, bytes }),

    async prepare({ batch, isPlain }, { request, context }) {
      const takeTurn: TakeTurn = (work) => turns.take(context.apiKeyId, work)
      const extra = createExtraPrinter(unknownFields(batch, knownFields), 'log')
      const sender = senderColumns(context, batch, isPlain)
      leaseShared(request, {
        shared: sender + (extra.print(undefined) ?? ''),
        entries: batch.logs.length,
        bytesMax: sharedBytesMax,
      })
      const readEntry = createEntryReader({ sender, extra, isPlain, bytesMax: entryBytesMax })
      return { entries: await mapInTurns(batch.logs, { takeTurn, clock }, readEntry), takeTurn }
    },

    async identify({ batch }, { entries, takeTurn }, { context, key, retentionMs, deadline }) {
      const identities = await assignIdentities({
        store: idempotency,
        batch,
        entries,
        key,
        context,
        retentionMs,
        turns: { takeTurn, clock },
        deadline,
      })
      return takeTurn(() => finishRows({ entries, identities, context }))
    },

    store: (_batch, _prepared, { rows }, { deadline }) => logs.appendAll(rows, deadline),

    tally: ({ accepted, rejected }) => ({ accepted, rejected }),
  }
}

function readEnvelope(request: FastifyRequest): SentBatch {
  // Undefined if the request has no body.
  const parsed = request.body as ParsedJson | undefined
  const batch = validateEnvelope(parsed?.value)
  request.records = batch.logs.length
  checkJson({ ...batch, logs: [] })
  const isPlain = parsed?.isPlain === true && parsed.entryNodes <= limits.jsonNodes
  return { batch, isPlain, bytes: parsed?.bytes ?? 0 }
}

/**
 * Charges the columns of the sender and the unknown fields of the batch to the lease, once for each
 * entry, because every row repeats them. Otherwise a large device in a small request would use much
 * uncharged memory.
 *
 * @throws {IntakeError} `body_too_large` when that is more than `bytesMax`, or more members and
 * elements than a batch may have
 */
function leaseShared(
  request: FastifyRequest,
  { shared, entries, bytesMax }: { shared: string; entries: number; bytesMax: number },
): void {
  const bytes = Buffer.from(shared)
  const repeated = bytes.length * entries
  const repeatedNodes = createNodeCounter(Infinity).add(bytes) * entries
  if (repeated > bytesMax || repeatedNodes > limits.batchJsonNodes) {
    const detail = 'The device and unknown fields are too large for so many entries.'
    throw new IntakeError('body_too_large', detail)
  }
  requireLease(request).extend(repeated)
}

function finishRows(batch: {
  entries: OrRejection<Entry>[]
  identities: OrRejection<Identity | Repeat>[]
  context: RequestContext
}): IdentifiedBatch {
  const { entries, identities, context } = batch
  const rows: Row[] = []
  const results: OrRejection<Row>[] = []
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
  const rejected = results.filter((result) => result instanceof IntakeError)
  return { rows, results, accepted: results.length - rejected.length, rejected }
}
