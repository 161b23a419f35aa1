import {
  countExpiredDeadLetters,
  listExpiredMonths,
  type Retention,
  type RetentionKind,
  type Services,
} from '@intake/records'
import { attachmentPrefix, dayMs, kinds, limits } from '@intake/contract'

/** Data that is older than its retention period. */
export interface Expired {
  /** The months whose rows are expired, as `YYYYMM`. */
  logs: string[]
  feedback: string[]
  deadLetters: number
  objects: number
}

/** For each kind, the time before which its data is expired; undefined if it never expires. */
export type ExpiryTimes = Record<RetentionKind, Date | undefined>

export function expiryTimes(retention: Retention, now: Date): ExpiryTimes {
  const before = (days: number | undefined) =>
    days === undefined ? undefined : new Date(now.getTime() - days * dayMs)
  return {
    logs: before(retention.logs),
    feedback: before(retention.feedback),
    'dead-letters': before(retention['dead-letters']),
  }
}

export async function findExpired(
  { clickhouse, objects }: Pick<Services, 'clickhouse' | 'objects'>,
  before: ExpiryTimes,
): Promise<Expired> {
  const expired: Expired = { logs: [], feedback: [], deadLetters: 0, objects: 0 }
  for (const kind of kinds) {
    const end = before[kind]
    if (end !== undefined) expired[kind] = await listExpiredMonths(clickhouse, kind, end)
  }
  for (const prefix of expiredPrefixes(before.feedback)) {
    for await (const _ of objects.list(prefix)) expired.objects++
  }
  const failed = before['dead-letters']
  if (failed !== undefined) expired.deadLetters = await countExpiredDeadLetters(clickhouse, failed)
  return expired
}

/**
 * The prefixes of the keys of objects in expired months, from the earliest month that a record can
 * have. Even a month without rows may have objects: an earlier `intake retention apply` can end
 * after it has dropped the rows and before it has removed the objects.
 */
export function* expiredPrefixes(before: Date | undefined): Generator<string> {
  if (before === undefined) return
  for (let month = new Date(limits.recordTimeMs.after); ;) {
    const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1))
    if (next > before) return
    yield attachmentPrefix(month.toISOString().slice(0, 7))
    month = next
  }
}
