import { randomUUID } from 'node:crypto'
import type { RecordKind } from '@intake/contract'
import { execAll, type Redis } from '@intake/redis'
import { changeHash } from '../change.ts'
import { revisionKey } from '../revision.ts'

export const retentionKey = '{intake}:retention'

export interface Retention {
  retentionDays: Record<RecordKind, number | undefined>
  /**
   * Records before this moment, in ms since 1970, may have been dropped. If it cannot be read it is
   * Infinity: then all before the current month count as dropped.
   */
  droppedUntilMs: Record<RecordKind, number>
  /** The applications whose records are or were kept for a shorter period, by identifier. */
  applicationRetention: Record<RecordKind, ReadonlyMap<string, ApplicationRetention>>
}

export interface ApplicationRetention {
  /** Undefined: the general period applies. */
  days: number | undefined
  /** As in `Retention`. If it cannot be read, all records before the current day count as dropped. */
  droppedUntilMs: number
}

const daysField = (kind: RecordKind, bundle?: string) =>
  bundle === undefined ? kind : `${kind}:days:${bundle}`
const droppedField = (kind: RecordKind, bundle?: string) =>
  `${kind}:dropped-until${bundle === undefined ? '' : `:${bundle}`}`
const applicationField = /^(logs|feedback):(?:days|dropped-until):([^]+)$/

export async function storeRetention(
  redis: Redis,
  kind: RecordKind,
  days: number | undefined,
  bundle?: string,
): Promise<void> {
  const change = redis
    .multi()
    .hset(retentionKey, daysField(kind, bundle), days ?? 0)
    .set(revisionKey, randomUUID())
  await execAll(change)
}

/** An earlier moment than the stored one is ignored; a stored value that cannot be read is replaced. */
const dropScript = `
local known = redis.call('HGET', KEYS[1], ARGV[3])
if known and string.match(known, '^%d+$') and tonumber(known) >= tonumber(ARGV[4]) then return 0 end
announce()
return redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])`

export async function storeDropped(
  redis: Redis,
  kind: RecordKind,
  until: Date,
  bundle?: string,
): Promise<void> {
  const args = [droppedField(kind, bundle), until.getTime()]
  const hash = { key: retentionKey, isForGateways: true }
  await changeHash(redis, { hash, script: dropScript, args })
}

/** @param onUnreadable called with the name of a field that cannot be read */
export function parseRetention(
  stored: ReadonlyMap<string, string>,
  onUnreadable: (field: string) => void,
): Retention {
  const numberOf = (field: string): number | undefined => {
    const text = stored.get(field) ?? '0'
    if (/^\d{1,15}$/.test(text)) return Number(text)
    onUnreadable(field)
    return undefined
  }
  // Unlimited if it cannot be read. Even then, `dropped-until` keeps gateways from storing repeats
  // of dropped records.
  const read = (kind: RecordKind, bundle?: string): ApplicationRetention => ({
    days: numberOf(daysField(kind, bundle)) || undefined,
    droppedUntilMs: numberOf(droppedField(kind, bundle)) ?? Infinity,
  })
  const applicationRetention = {
    logs: new Map<string, ApplicationRetention>(),
    feedback: new Map<string, ApplicationRetention>(),
  }
  for (const field of stored.keys()) {
    const [, kind, bundle = ''] = applicationField.exec(field) ?? []
    if (kind !== 'logs' && kind !== 'feedback') continue
    const found = applicationRetention[kind]
    if (!found.has(bundle)) found.set(bundle, read(kind, bundle))
  }
  const logs = read('logs')
  const feedback = read('feedback')
  return {
    retentionDays: { logs: logs.days, feedback: feedback.days },
    droppedUntilMs: { logs: logs.droppedUntilMs, feedback: feedback.droppedUntilMs },
    applicationRetention,
  }
}
