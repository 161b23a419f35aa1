import { randomUUID } from 'node:crypto'
import {
  dropExpired,
  findExpired,
  keepCounts,
  noteErasure,
  readDropped,
  readExpiry,
  type Expired,
  type Expiry,
  type Services,
} from '@intake/records'
import { kinds } from '@intake/contract'
import { createPolicyStore } from '@intake/access'
import { confirmChange } from '../confirm-change.ts'
import { noteChange } from '../journal.ts'
import { untilGatewaysKnow } from '../until-gateways-know.ts'

/**
 * Drops data that is older than its retention period. Resolves to a report of what was dropped,
 * which is also written to the journal of erasures. An interrupted call is completed by the next one.
 */
export async function applyRetention(
  services: Services,
  options: { now: Date; progress?: (sentence: string) => void },
): Promise<Expired & { objects: number }> {
  const { clickhouse, redis } = services
  const { now, progress = () => {} } = options
  const expiry = await readExpiry(clickhouse, now)
  await noteDropped(services, expiry)
  const expired = await findExpired(clickhouse, expiry)
  const { logs, feedback, counts, applications, deadLetters } = expired
  const found = [...logs, ...feedback, ...counts, ...applications].length + deadLetters
  if (found === 0) return { ...expired, objects: 0 }
  // Also after an interrupted call, which may have noted it a moment ago.
  if (logs.length + feedback.length + applications.length > 0) await untilGatewaysKnow(progress)
  await noteChange(redis, { action: 'retention-applied', subject: '', detail: expired })
  const entry = { id: randomUUID(), kind: 'retention', subjectHash: '', startedAt: new Date() }
  const note = (report: Expired, finishedAt?: Date) =>
    noteErasure(clickhouse, { ...entry, finishedAt, report: JSON.stringify(report) })
  await note(expired)
  if (logs.length > 0 || applications.some(({ kind }) => kind === 'logs')) {
    progress('counting what is dropped')
    await keepCounts(clickhouse, expiry, (reason) => progress(`it cannot be counted: ${reason}`))
  }
  const dropped = { ...expired, objects: await dropExpired(services, expiry, expired) }
  await note(dropped, new Date())
  return dropped
}

/**
 * Gateways refuse repeats of what was dropped, even when a period has become longer and Redis has
 * lost the moment since.
 */
async function noteDropped({ clickhouse, redis }: Services, { before, applications }: Expiry) {
  const policy = createPolicyStore({ redis })
  const scope = { kinds, bundles: [], database: 'intake' }
  const all = [
    ...(await readDropped({ clickhouse, scope })).map(({ kind, bundle_identifier, ...one }) => ({
      kind,
      before: new Date(one.before),
      bundleIdentifier: bundle_identifier || undefined,
    })),
    ...kinds.map((kind) => ({ kind, before: before[kind], bundleIdentifier: undefined })),
    ...applications,
  ]
  await confirmChange(redis, async () => {
    for (const { kind, before: end, bundleIdentifier } of all) {
      if (end) await policy.noteDropped(kind, end, bundleIdentifier)
    }
  })
}
