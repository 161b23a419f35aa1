import { randomUUID } from 'node:crypto'
import {
  deleteExpiredDeadLetters,
  dropMonths,
  noteErasure,
  readRetention,
  removeObjects,
  type Services,
} from '@intake/records'
import { kinds } from '@intake/contract'
import { createPolicyStore } from '@intake/access'
import { confirmChange } from '../confirm-change.ts'
import { untilGatewaysKnow } from '../until-gateways-know.ts'
import { expiredPrefixes, expiryTimes, findExpired, type Expired } from './find-expired.ts'

/**
 * Drops data that is older than its retention period. Resolves to a report of what was dropped,
 * which is also written to the journal of erasures. The retention in ClickHouse is the valid one.
 * If the policy in Redis differs from it, first corrects the policy and waits until gateways know
 * the change.
 *
 * @param options.now the time from which the age of records is measured
 */
export async function applyRetention(
  services: Services,
  options: { now?: Date; progress?: (sentence: string) => void } = {},
): Promise<Expired> {
  const { clickhouse, redis, objects } = services
  const { now = new Date(), progress = () => {} } = options
  const retention = await readRetention(clickhouse)
  const policy = createPolicyStore({ redis })
  const known = await policy.load()
  const unknown = kinds.filter((kind) => known?.retentionDays[kind] !== retention[kind])
  // Also confirms a policy that needs no change, because an earlier attempt may have changed it
  // without a confirmation.
  await confirmChange(redis, async () => {
    for (const kind of unknown) await policy.setRetention(kind, retention[kind])
  })
  if (unknown.length > 0) await untilGatewaysKnow(progress)

  const before = expiryTimes(retention, now)
  for (const kind of kinds) {
    const end = before[kind]
    if (end !== undefined) await confirmChange(redis, () => policy.noteDropped(kind, monthOf(end)))
  }
  const expired = await findExpired(services, before)
  const { logs, feedback, deadLetters } = expired
  if (logs.length + feedback.length + deadLetters + expired.objects === 0) return expired

  const entry = { id: randomUUID(), kind: 'retention', subjectHash: '', startedAt: new Date() }
  const note = (report: Expired, finishedAt?: Date) =>
    noteErasure(clickhouse, { ...entry, finishedAt, report: JSON.stringify(report) })
  await note(expired)
  for (const kind of kinds) await dropMonths(clickhouse, kind, expired[kind])
  const dropped = { ...expired, objects: 0 }
  for (const prefix of expiredPrefixes(before.feedback)) {
    dropped.objects += await removeObjects(objects, prefix)
  }
  if (deadLetters > 0 && before['dead-letters'] !== undefined)
    await deleteExpiredDeadLetters(clickhouse, before['dead-letters'])
  await note(dropped, new Date())
  return dropped
}

const monthOf = (time: Date) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()))
