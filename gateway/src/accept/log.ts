import type { FastifyRequest } from 'fastify'
import type { Ruling } from '@intake/access'
import { compileSchema, LogSubmission, type LogEntry } from '@intake/contract/schemas'
import { clientIdKey, type Identity } from '@intake/identity'
import { checkJson } from '../body/check-json.ts'
import type { ParsedJson } from '../body/json.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs } from '../identity/event-time.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import { createExtraPrinter, joinExtra, submissionFields, unknownFields } from '../record/extra.ts'
import { readLog } from '../record/log-fields.ts'
import type { RequestContext } from '../record/request-context.ts'
import { logRow, type Extra, type Row } from '../record/row.ts'
import { tallyOne, type Steps } from './accept.ts'
import { editExtra, editLog, editSender } from './apply-rules.ts'

const validate = compileSchema(LogSubmission)
const knownFields = submissionFields('log')

/** A valid body of `POST /api/log`. */
export interface SentLog {
  body: LogSubmission
  /** Whether the document is plain (see `ParsedJson.isPlain`). */
  isPlain: boolean
  /** The size of the JSON after decompression. */
  bytes: number
}

interface PreparedLog {
  log: LogEntry
  unknown: Extra
  /** What the rules decide about the event; undefined if no rule applies. */
  ruling: Ruling | undefined
}

export type LogSteps = Steps<SentLog, PreparedLog, Identity>

/** Creates the steps that accept one log event. */
export function createLogSteps(options: {
  logs: GroupCommit
  idempotency: IdempotencyStore
}): LogSteps {
  const { logs, idempotency } = options
  return {
    kind: 'logs',
    read: readBody,
    senderOf: ({ body }) => body,
    sizeOf: ({ bytes }) => ({ kind: 'logs', records: 1, attachmentBytes: 0, bytes }),

    prepare({ body }, { rules }) {
      const { log, unknown } = readLog(body.log)
      return { log, unknown, ruling: rules?.judge(log.event) }
    },

    identify: ({ body }, { log }, { context, key, retentionMs, deadline }) =>
      assignIdentity({
        store: idempotency,
        scope: 'logs',
        apiKeyId: context.apiKeyId,
        sender: body,
        clientId: clientIdKey(log.id),
        key,
        nowMs: context.receivedAtMs,
        timeMs: () => eventTimeMs(log.timestamp, context.receivedAtMs, retentionMs),
        retentionMs,
        fingerprint: () => fingerprintOf(logContent(body, log)),
        deadline,
      }),

    store({ body, isPlain }, prepared, identity, { context, deadline }) {
      const { log, unknown, ruling } = prepared
      if (ruling === undefined) {
        const extra = extraOf(body, unknown)
        const row = logRow({ identity, context, sender: body, log, extra, isPlain })
        return logs.append(row, deadline)
      }
      if (ruling.outcome !== 'accepted') return Promise.resolve()
      return logs.append(ruledRow({ body, log, unknown, ruling, identity, context }), deadline)
    },

    tally: ({ ruling }) => tallyOne(ruling),
  }
}

function readBody(request: FastifyRequest): SentLog {
  // The body is undefined if the request has none.
  const parsed = request.body as ParsedJson | undefined
  if (parsed?.isPlain !== true) checkJson(parsed?.value)
  const body = validate(parsed?.value)
  return { body, isPlain: parsed?.isPlain === true, bytes: parsed?.bytes ?? 0 }
}

/**
 * Returns the `extra` column as JSON; undefined if there are no unknown fields, which is the usual
 * case.
 */
function extraOf(body: LogSubmission, inLog: Extra): string | undefined {
  const inBody = unknownFields(body, knownFields)
  if (inBody === undefined && inLog === undefined) return undefined
  return createExtraPrinter(inBody, 'log').print(inLog)
}

function ruledRow(
  event: PreparedLog & {
    body: LogSubmission
    ruling: Ruling
    identity: Identity
    context: RequestContext
  },
): Row {
  const { body, log, unknown, ruling, identity, context } = event
  return logRow({
    identity,
    context,
    sender: editSender(body, ruling),
    log: editLog(log, ruling),
    extra: editExtra(joinExtra(unknownFields(body, knownFields), 'log', unknown), ruling),
    // The edited record is checked again, because an edit can make an array that ClickHouse would
    // change.
    isPlain: false,
    sampleRate: ruling.sampleRate,
  })
}
