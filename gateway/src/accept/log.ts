import type { FastifyRequest } from 'fastify'
import { compileSchema, LogSubmission, type LogEntry } from '@intake/contract'
import { clientIdKey, type Identity } from '@intake/identity'
import { checkJson } from '../body/check-json.ts'
import type { ParsedJson } from '../body/json.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs } from '../identity/event-time.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import { createExtraPrinter, submissionFields, unknownFields } from '../record/extra.ts'
import { readLog } from '../record/log-fields.ts'
import { logRow, type Extra } from '../record/row.ts'
import type { Steps } from './accept.ts'

const validate = compileSchema(LogSubmission)
const knownFields = submissionFields('log')
const one = { accepted: 1, rejected: [] }

/** A valid body. */
export interface SentLog {
  body: LogSubmission
  /** See `ParsedJson.isPlain`. */
  isPlain: boolean
  /** The size of the JSON. */
  bytes: number
}

export type LogSteps = Steps<SentLog, { log: LogEntry; unknown: Extra }, Identity>

/** How one log event is accepted. */
export function createLogSteps(options: {
  logs: GroupCommit
  idempotency: IdempotencyStore
}): LogSteps {
  const { logs, idempotency } = options
  return {
    kind: 'logs',
    read: readBody,
    senderOf: ({ body }) => body,
    sizeOf: ({ bytes }) => ({ records: 1, attachmentBytes: 0, bytes }),
    prepare: ({ body }) => readLog(body.log),

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

    store({ body, isPlain }, { log, unknown }, identity, { context, deadline }) {
      const extra = extraOf(body, unknown)
      return logs.append(logRow({ identity, context, sender: body, log, extra, isPlain }), deadline)
    },

    tally: () => one,
  }
}

function readBody(request: FastifyRequest): SentLog {
  // Undefined if the request has no body.
  const parsed = request.body as ParsedJson | undefined
  if (parsed?.isPlain !== true) checkJson(parsed?.value)
  const body = validate(parsed?.value)
  return { body, isPlain: parsed?.isPlain === true, bytes: parsed?.bytes ?? 0 }
}

/**
 * The `extra` column as JSON; undefined if there are no unknown fields, which is the usual case.
 */
function extraOf(body: LogSubmission, inLog: Extra): string | undefined {
  const inBody = unknownFields(body, knownFields)
  if (inBody === undefined && inLog === undefined) return undefined
  return createExtraPrinter(inBody, 'log').print(inLog)
}
