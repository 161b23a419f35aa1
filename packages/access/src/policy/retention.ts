import type { RecordKind } from '@intake/contract'
import type { Redis } from '@intake/redis'
import { changeHash } from '../change.ts'

export const retentionKey = '{intake}:retention'

/** The moments, in ms since 1970, before which records have been dropped. */
export type DroppedUntilMs = Record<
  RecordKind,
  /** By the identifier of the application; empty: of all. */
  ReadonlyMap<string, number>
>

/** Other fields are of earlier versions, which also stored periods. */
const fieldForm = /^(logs|feedback):dropped-until(?:$|:)([^]*)$/

export async function storeDropped(
  redis: Redis,
  kind: RecordKind,
  until: Date,
  bundle?: string,
): Promise<void> {
  const field = [kind, 'dropped-until', ...(bundle === undefined ? [] : [bundle])].join(':')
  const hash = { key: retentionKey, isForGateways: true }
  await changeHash(redis, { hash, script, args: [field, until.getTime()] })
}

/** An earlier moment than the stored one is ignored; a stored value that cannot be read is replaced. */
const script = `
local known = redis.call('HGET', KEYS[1], ARGV[3])
if known and #known <= 15 and string.match(known, '^%d+$') and tonumber(known) >= tonumber(ARGV[4]) then return end
announce()
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])`

/** @param onUnreadable called with the name of a field that cannot be read; it counts as none */
export function parseDropped(
  stored: Iterable<[field: string, text: string]>,
  onUnreadable: (field: string) => void,
): DroppedUntilMs {
  const dropped = { logs: new Map<string, number>(), feedback: new Map<string, number>() }
  for (const [field, text] of stored) {
    const [, kind, bundle = ''] = fieldForm.exec(field) ?? []
    if (kind === undefined) continue
    if (/^\d{1,15}$/.test(text)) dropped[kind as RecordKind].set(bundle, Number(text))
    else onUnreadable(field)
  }
  return dropped
}
