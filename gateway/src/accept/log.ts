import type { LogEntry, LogSubmission } from '@intake/contract'
import { clientIdKey, type Identity } from '@intake/identity'
import type { GroupCommit } from '../commit/group-commit.ts'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs } from '../identity/event-time.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import { createExtraPrinter, submissionFields, unknownFields } from '../record/extra.ts'
import { readLog } from '../record/log-fields.ts'
import { finishRow, logColumns, senderColumns, type Extra } from '../record/row.ts'
import type { Steps } from './accept.ts'

const knownFields = submissionFields('log')
const one = { accepted: 1, rejected: [] }

/** How one log event is accepted; its body was validated by the schema of the route. */
export function createLogSteps(options: {
  logs: GroupCommit
  idempotency: IdempotencyStore
}): Steps<LogSubmission, { log: LogEntry; unknown: Extra }, Identity> {
  const { logs, idempotency } = options
  return {
    kind: 'logs',
    read: ({ body }) => body as LogSubmission,
    senderOf: (body) => body,
    prepare: ({ log }) => readLog(log),

    identify: (body, { log }, { context, key, retentionMs, deadline }) =>
      assignIdentity({
        store: idempotency,
        scope: 'logs',
        apiKeyId: context.apiKeyId,
        sender: body,
        clientId: clientIdKey(log.id),
        key,
        nowMs: context.receivedAtMs,
        timeMs: eventTimeMs(log.timestamp, context.receivedAtMs, retentionMs),
        retentionMs,
        fingerprint: () => fingerprintOf(logContent(body, log)),
        deadline,
      }),

    store(body, { log, unknown }, identity, { context, deadline }) {
      const extra = createExtraPrinter(unknownFields(body, knownFields), 'log').print(unknown)
      const columns = logColumns(senderColumns(context, body), log, extra)
      return logs.append(finishRow({ identity, context, others: columns }), deadline)
    },

    tally: () => one,
  }
}
