import { dayMs } from '@intake/contract'
import { bucketFieldsMax, levelsMax, type ReserveCall, type ReserveReply } from '@intake/identity'
import type { World } from './world.ts'

/** The reservations in Redis. */
export interface Reservations {
  /**
   * Simulates the gateway's reservation script as one atomic command.
   * `test/conformance/reservations.test.ts` compares it with the script.
   */
  reserve(call: ReserveCall): ReserveReply
}

export function createReservations({ wallMs }: Pick<World, 'wallMs'>): Reservations {
  const buckets = new Map<string, Map<string, Buffer>>()

  return {
    reserve({ keys, firstDay, levels, field, value, mayWrite }) {
      const days = keys.length / levels
      const today = Math.floor(wallMs() / dayMs) - firstDay
      if (today !== days - 2 && today !== days - 1) return 'other days'
      const name = field.toString('hex')
      let free: string | undefined
      for (let day = days - 1; day >= 0; day--) {
        for (let level = 0; level < levels; level++) {
          const key = keys[day * levels + level]!
          const bucket = buckets.get(key)
          const found = bucket?.get(name)
          if (found !== undefined) return found
          if ((bucket?.size ?? 0) < bucketFieldsMax || level + 1 === levelsMax) {
            if (day === today) free = key
            break
          }
          if (level + 1 === levels) return 'more levels'
        }
      }
      if (!mayWrite) return 'no room'
      const bucket = buckets.get(free!) ?? new Map<string, Buffer>()
      buckets.set(free!, bucket.set(name, value))
      return 'reserved'
    },
  }
}
