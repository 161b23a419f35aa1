import { limits, type RecordKind } from '@intake/contract'
import { addTo, createKeyCounts, type Redis } from '@intake/redis'
import type { Clock } from '@intake/runtime'
import type { Day } from './reservation-buckets.ts'

export const createReservationUsages = (options: { redis: Redis; clock: Pick<Clock, 'now'> }) => ({
  logs: createReservationUsage({ ...options, kind: 'logs' }),
  feedback: createReservationUsage({ ...options, kind: 'feedback' }),
})

/**
 * Counts the reservations of a kind by API key, of all gateways, without asking Redis for each. If
 * a gateway is killed, those that it has counted since the last `sync` are missing.
 */
function createReservationUsage(options: {
  redis: Redis
  kind: RecordKind
  clock: Pick<Clock, 'now'>
}) {
  const { kind } = options
  const days = limits.keyDays[kind]
  const counts = createKeyCounts({
    ...options,
    keyOf: (day) => `{intake}:reservations:used:${kind}:${day}`,
    keptSeconds: (days + 1) * 86_400,
  })
  const { unsent } = counts
  let known = new Map<string, number>()
  let total = 0

  return {
    add(apiKeyId: string): void {
      addTo(unsent, apiKeyId, 1)
      total++
    },
    /** Returns what this gateway knows, including the reservations of other gateways. */
    total: () => total,
    of: (apiKeyId: string) => (known.get(apiKeyId) ?? 0) + (unsent.get(apiKeyId) ?? 0),
    /** The number of reservations of the API key that has the most, as of the last `sync`. */
    largest: () => [...known.values()].reduce((largest, one) => Math.max(largest, one), 0),
    isUnsent: () => unsent.size > 0,

    /** Sends the new counts to Redis, and reads the sums over all gateways. */
    async sync(today: Day): Promise<void> {
      for (const [id, number] of await counts.send(today)) addTo(known, id, number)
      known = await counts.read(today, days)
      total = [...known.values(), ...unsent.values()].reduce((sum, number) => sum + number, 0)
    },
  }
}
