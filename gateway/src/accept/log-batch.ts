import type { FastifyRequest } from 'fastify'
import type { Ruling } from '@intake/access'
import { IntakeError, limits } from '@intake/contract'
import { compileSchema, LogBatchEnvelope } from '@intake/contract/schemas'
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
import { createExtraEditor, createSenderPrinter } from './apply-rules.ts'
import { createEntryReader, type Entry, type OrRejection } from './batch-entries.ts'
import { assignIdentities, type Repeat } from './batch-identities.ts'
import type { EntryOutcome } from './batch-results.ts'

const validateEnvelope = compileSchema(LogBatchEnvelope)
const knownFields = submissionFields('logs')

interface PreparedBatch {
  entries: OrRejection<Entry>[]
  takeTurn: TakeTurn
}

export interface IdentifiedBatch {
  rows: Row[]
  /** The results of the entries, in the order of the entries. */
  results: EntryOutcome[]
  /** The number of acknowledged entries, including those that a rule or a suppression drops. */
  accepted: number
  rejected: IntakeError[]
  /** What the rules decide about the accepted entries. */
  rulings: Ruling[]
}

/** A batch whose entries are not validated yet; everything else in it is valid. */
interface SentBatch {
  batch: LogBatchEnvelope
  /**
   * Whether the document is plain (see `ParsedJson.isPlain`) and no entry has too many members and
   * elements. If so, `checkJson` need not check the entries.
   */
  isPlain: boolean
  /** The size of the JSON after decompression. */
  bytes: number
}

export type BatchSteps = Steps<SentBatch, PreparedBatch, IdentifiedBatch>

/**
 * Creates the steps that accept the log events of a batch. An invalid event does not affect the
 * other events.
 *
 * @param options.sharedBytesMax the maximum size, in all rows together, of the data that every row
 * repeats: the sender's columns and the batch's unknown fields
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
    sizeOf({ batch: { logs: entries }, bytes }) {
      return { kind: 'logs', records: entries.length, attachmentBytes: 0, bytes }
    },

    async prepare({ batch, isPlain }, { request, context, rules }) {
      const takeTurn: TakeTurn = (work) => turns.take(context.apiKeyId, work)
      const unknown = unknownFields(batch, knownFields)
      const extra = createExtraPrinter(unknown, 'log')
      // Copies the batch and its device before `senderColumns` runs, because `senderColumns`
      // changes the device.
      const unprinted = rules && { ...batch, device: { ...batch.device } }
      const sender = senderColumns(context, batch, isPlain)
      const ruled = rules &&
        unprinted && {
          rules,
          editExtra: createExtraEditor(unknown, 'log'),
          printSender: createSenderPrinter({ context, sender: unprinted, unchanged: sender }),
        }
      leaseShared(request, {
        shared: sender + (extra.print(undefined) ?? ''),
        entries: batch.logs.length,
        bytesMax: sharedBytesMax,
      })
      const readEntry = createEntryReader({
        sender,
        extra,
        isPlain,
        bytesMax: entryBytesMax,
        ruled,
      })
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
      return finishRows({ entries, identities, context })
    },

    store: (_batch, _prepared, { rows }, { deadline }) => logs.appendAll(rows, deadline),

    tally: (_prepared, { accepted, rejected, rulings }) => ({ accepted, rejected, rulings }),
  }
}

function readEnvelope(request: FastifyRequest): SentBatch {
  // The body is undefined if the request has none.
  const parsed = request.body as ParsedJson | undefined
  const batch = validateEnvelope(parsed?.value)
  request.records = batch.logs.length
  checkJson({ ...batch, logs: [] })
  const isPlain = parsed?.isPlain === true && parsed.entryNodes <= limits.jsonNodes
  return { batch, isPlain, bytes: parsed?.bytes ?? 0 }
}

/**
 * Charges the columns of the sender and the unknown fields of the batch to the lease, once for each
 * entry, because every row repeats them. Otherwise a small request with a large `device` would use
 * much uncharged memory.
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
    bytes > nodesMax && createNodeCounter(Infinity).add(Buffer.from(shared)) * entries > nodesMax
  if (bytes > bytesMax || isOverNodes) {
    const detail = 'The device and unknown fields are too large for so many entries.'
    throw new IntakeError('body_too_large', detail)
  }
  requireLease(request).extend(bytes)
}

/**
 * Completes the rows of a batch and makes its results. This runs at once and does not wait for the
 * sender's turn, because it copies no text and takes only 0.1 ms for the largest batch.
 */
function finishRows(batch: {
  entries: OrRejection<Entry>[]
  identities: OrRejection<Identity | Repeat>[]
  context: RequestContext
}): IdentifiedBatch {
  const { entries, identities, context } = batch
  const rows: Row[] = []
  const results: EntryOutcome[] = []
  const rulings: Ruling[] = []
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!
    const identity = identities[index]!
    if (entry instanceof IntakeError) {
      results.push(entry)
      continue
    }
    if (identity instanceof IntakeError) {
      results.push(identity)
      continue
    }
    const { ruling } = entry
    if ('of' in identity) results.push(results[identity.of]!)
    else if (ruling !== undefined && ruling.outcome !== 'accepted') {
      results.push({ isDropped: true, id: identity.id })
    } else {
      const row = finishRow({ identity, context, others: entry.columns })
      rows.push(row)
      results.push(row)
    }
    // If this entry repeats a rejected entry, it is rejected too, and its ruling does not count.
    if (ruling !== undefined && !(results.at(-1) instanceof IntakeError)) rulings.push(ruling)
  }
  const rejected = results.filter((result) => result instanceof IntakeError)
  return { rows, results, accepted: results.length - rejected.length, rejected, rulings }
}
