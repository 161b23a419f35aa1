import { limits } from '@intake/contract'
import { primaryOf, type Redis } from '@intake/redis'
import { fieldOf, hashKey, kindOfScope, parseReserved, type ClientKey } from './reservation.ts'
import { bucketsOf, levelsMax } from './reservation-buckets.ts'
import { defineReserve } from './reserve-script.ts'

/**
 * Resolves to the id that is reserved for a client's key; undefined if no id is reserved. Writes
 * nothing.
 */
export type FindReservation = (key: ClientKey) => Promise<string | undefined>

export function defineFindReservation({ redis }: { redis: Redis }): FindReservation {
  const reserve = defineReserve(redis)

  return async function find(key) {
    const kind = kindOfScope(key.scope)
    const keyHash = hashKey(key)
    const [seconds] = await primaryOf(redis).time()
    const today = Math.floor(Number(seconds) / 86_400)
    const reply = await reserve({
      ...bucketsOf({ kind, keyHash, today, levels: levelsMax }),
      field: fieldOf(keyHash),
      value: Buffer.alloc(0),
      mayWrite: false,
      keptDays: limits.keyDays[kind],
    })
    // Midnight (UTC) has passed since `time()` was called, so `today` must be computed again.
    if (reply === 'other days') return find(key)
    return Buffer.isBuffer(reply) ? parseReserved(reply).id : undefined
  }
}
