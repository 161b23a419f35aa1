import type { FastifyRequest } from 'fastify'
import {
  compileCheck,
  compileSchema,
  isTimestamp,
  LogEntry,
  LogSubmission,
  type LogCreated,
} from '@intake/contract/schemas'
import { clientIdKey, type IdempotencyStore } from '@intake/identity'
import { checkJson, type ParsedJson, rowJson } from '@intake/json'
import type { GroupCommit } from '../commit/group-commit.ts'
import { assignIdentity, eventTimeMs } from '../identity/assign-identity.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import { submissionFields, unknownFields } from '../record/extra.ts'
import type { Extra } from '../record/row.ts'
import type { Settled } from '../report/outcomes.ts'
import type { Acceptance } from './acceptance.ts'
import { createLogPrinter, rowsOf } from './log-record.ts'

const validate = compileSchema(LogSubmission)
const isId = compileCheck(LogEntry.properties.id)
const knownFields = submissionFields('log')

function readLog(request: FastifyRequest) {
  // The body is undefined if the request has none.
  const parsed = request.body as ParsedJson | undefined
  const isPlain = parsed?.isPlain === true
  if (!isPlain) checkJson(parsed?.value)
  const body = validate(parsed?.value)
  return { body, print: isPlain ? JSON.stringify : rowJson, bytes: parsed?.bytes ?? 0 }
}

/** Returns a function that accepts one log event: it resolves when that is stored and counted. */
export function createAcceptLog(options: {
  acceptance: Acceptance
  logs: GroupCommit
  idempotency: IdempotencyStore
}) {
  const { acceptance, logs, idempotency } = options

  return async (request: FastifyRequest): Promise<Settled<LogCreated>> => {
    const { body, print, bytes } = readLog(request)
    const size = { kind: 'logs', records: 1, attachmentBytes: 0, bytes } as const
    const admitted = acceptance.admit(request, body, size)
    const { context, key, rules } = admitted
    const { log, unknown } = takeFields(body.log)
    const ruling = rules?.judge(log.event)
    const printer = createLogPrinter(admitted, unknownFields(body, knownFields), print)
    const columns = printer.columns(log, unknown, ruling)
    const { retentionMs, deadline } = acceptance.terms(admitted)
    const assigned = assignIdentity({
      store: idempotency,
      scope: 'logs',
      apiKeyId: context.apiKeyId,
      sender: body,
      clientId: log.id == null ? undefined : clientIdKey(log.id),
      key,
      nowMs: context.receivedAtMs,
      timeMs: () => eventTimeMs(log.timestamp, context.receivedAtMs, retentionMs),
      retentionMs,
      fingerprint: () => fingerprintOf(logContent(body, log)),
      deadline,
    })
    const identity = assigned instanceof Promise ? await assigned : assigned
    const records = [{ columns, ruling, identity }]
    if (acceptance.isStored(admitted)) await logs.append(rowsOf(records, context), deadline)
    const created = { message: 'Log successfully created', id: identity.id } as const
    return acceptance.settle(admitted, records, created)
  }
}

/**
 * An invalid `id` or `timestamp` counts as an unknown field, because apps may have sent those names
 * before they had a meaning.
 */
function takeFields(sent: LogSubmission['log']): { log: LogEntry; unknown: Extra } {
  const { event, params } = sent
  const log: LogEntry = { event, params: params ?? {} }
  let unknown: Extra
  for (const name in sent) {
    const value = (sent as Record<string, unknown>)[name]
    if (name === 'event' || name === 'params') continue
    if (name === 'id' && isId(value)) log.id = value ?? null
    else if (name === 'timestamp' && (value === null || isTimestamp(value))) log.timestamp = value
    else (unknown ??= Object.create(null) as Record<string, unknown>)[name] = value
  }
  return { log, unknown }
}
