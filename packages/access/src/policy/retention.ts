import type { RecordKind } from '@intake/contract'
import type { Redis } from '@intake/redis'
import { changeHash } from '../change.ts'

export const retentionKey = '{intake}:retention'

export interface Retention {
  /** Undefined: without limit, or of an application: the general period applies. */
  days: number | undefined
  /**
   * Records before this moment, in ms since 1970, may have been dropped. If it cannot be read it is
   * Infinity: then all before the current month count as dropped, of an application all before the
   * current day.
   */
  droppedUntilMs: number
}

export interface KindRetention extends Retention {
  /** Those whose records are or were kept for a shorter period, by identifier. */
  applications: ReadonlyMap<string, Retention>
}

const daysField = (kind: RecordKind, bundle?: string) =>
  bundle === undefined ? kind : `${kind}:days:${bundle}`
const droppedField = (kind: RecordKind, bundle?: string) =>
  `${kind}:dropped-until${bundle === undefined ? '' : `:${bundle}`}`
const applicationField = /^(logs|feedback):(?:days|dropped-until):([^]+)$/

const hash = { key: retentionKey, isForGateways: true }

export const storeRetention = (redis: Redis, kind: RecordKind, days = 0, bundle?: string) =>
  changeHash(redis, { hash, script: setScript, args: [daysField(kind, bundle), days] })

const setScript = `
announce()
return redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])`

export const storeDropped = (redis: Redis, kind: RecordKind, until: Date, bundle?: string) =>
  changeHash(redis, {
    hash,
    script: dropScript,
    args: [droppedField(kind, bundle), until.getTime()],
  })

/** An earlier moment than the stored one is ignored; a stored value that cannot be read is replaced. */
const dropScript = `
local known = redis.call('HGET', KEYS[1], ARGV[3])
if known and string.match(known, '^%d+$') and tonumber(known) >= tonumber(ARGV[4]) then return 0 end
${setScript}`

/** @param onUnreadable called with the name of a field that cannot be read */
export function parseRetention(
  stored: ReadonlyMap<string, string>,
  onUnreadable: (field: string) => void,
): Record<RecordKind, KindRetention> {
  const numberOf = (field: string): number | undefined => {
    const text = stored.get(field) ?? '0'
    if (/^\d{1,15}$/.test(text)) return Number(text)
    onUnreadable(field)
    return undefined
  }
  // Unlimited if it cannot be read. Even then, `dropped-until` keeps gateways from storing repeats
  // of dropped records.
  const read = (kind: RecordKind, bundle?: string): Retention => ({
    days: numberOf(daysField(kind, bundle)) || undefined,
    droppedUntilMs: numberOf(droppedField(kind, bundle)) ?? Infinity,
  })
  const readKind = (kind: RecordKind): KindRetention => {
    const applications = new Map<string, Retention>()
    for (const field of stored.keys()) {
      const [, found, bundle = ''] = applicationField.exec(field) ?? []
      if (found === kind && !applications.has(bundle)) applications.set(bundle, read(kind, bundle))
    }
    return { ...read(kind), applications }
  }
  return { logs: readKind('logs'), feedback: readKind('feedback') }
}
