import type { LogSubmission } from '@intake/contract'
import { clientIdKey } from '@intake/identity'
import { systemClock, type Clock } from '@intake/runtime'
import { assignIdentity } from '../identity/assign-identity.ts'
import { eventTimeMs } from '../identity/event-time.ts'
import { fingerprintOf, logContent } from '../identity/idempotency-key.ts'
import type { IdempotencyStore } from '../identity/idempotency-store.ts'
import type { GatewayPorts } from '../ports.ts'
import { createExtraPrinter, submissionFields, unknownFields } from '../record/extra.ts'
import { readLog } from '../record/log-fields.ts'
import { finishRow, logColumns, senderColumns, type RequestContext } from '../record/row.ts'
import type { GroupCommit } from '../commit/group-commit.ts'
import type { OutcomeCounts } from '../report/outcome-counts.ts'

const knownFields = submissionFields('log')

/**
 * Accepts a valid log event; resolves to its id when Redis has confirmed its row. Nothing is stored of a
 * suppressed sender.
 *
 * @param request.key the `Idempotency-Key`
 * @throws {IntakeError} when nothing is stored, or the outcome is unknown
 */
export type AcceptLog = (request: {
  body: LogSubmission
  key: string | undefined
  context: RequestContext
}) => Promise<string>

export function createAcceptLog(options: {
  logs: GroupCommit
  outcomes: Pick<OutcomeCounts, 'count'>
  idempotency: IdempotencyStore
  policy: GatewayPorts['policy']
  enqueueTimeoutMs: number
  clock?: Clock
}): AcceptLog {
  const { logs, outcomes, idempotency, policy, enqueueTimeoutMs, clock = systemClock } = options

  return async ({ body, key, context }) => {
    const { apiKeyId, receivedAtMs } = context
    const { log, unknown } = readLog(body.log)
    const retentionMs = policy.retentionMs('logs')
    const deadline = clock.now() + enqueueTimeoutMs
    const identity = await assignIdentity({
      store: idempotency,
      scope: 'logs',
      apiKeyId,
      sender: body,
      clientId: clientIdKey(log.id),
      key,
      nowMs: receivedAtMs,
      timeMs: eventTimeMs(log.timestamp, receivedAtMs, retentionMs),
      retentionMs,
      fingerprint: () => fingerprintOf(logContent(body, log)),
      deadline,
    })
    const isSuppressed = policy.isSuppressed(body)
    if (!isSuppressed) {
      const extra = createExtraPrinter(unknownFields(body, knownFields), 'log').print(unknown)
      const columns = logColumns(senderColumns(context, body), log, extra)
      await logs.append(finishRow({ identity, context, others: columns }), deadline)
    }
    const code = isSuppressed ? 'suppressed' : 'accepted'
    outcomes.count({ apiKeyId, kind: 'logs', code, atMs: receivedAtMs, records: 1 })
    return identity.id
  }
}
