import type { Clock } from '@intake/runtime'
import type { ChainableCommander } from 'ioredis'
import type { Redis } from './connect.ts'
import { execEach, isDamaged } from './replies.ts'

type Counts = ReadonlyMap<string, number>

/** The newest periods can change: a process that has not noticed the next one still adds to it. */
const changingPeriods = 2
/** The counts of older periods are read again at this interval, because Redis may have lost them. */
const finalMs = 10 * 60_000

export const addTo = (counts: Map<string, number>, apiKeyId: string, amount: number): void =>
  void counts.set(apiKeyId, (counts.get(apiKeyId) ?? 0) + amount)

/**
 * What all gateways count for each API key in periods such as days, in a hash of Redis for each
 * period. What a process that is killed has not sent is missing.
 *
 * @param options.keyOf returns the key of a period
 * @param options.keptSeconds how long a period is kept after the last change
 */
export function createKeyCounts(options: {
  redis: Redis
  keyOf: (period: number) => string
  keptSeconds: number
  clock: Pick<Clock, 'now'>
}) {
  const { redis, keyOf, keptSeconds, clock } = options
  /** What this process has counted since the last `send`; without API keys that have 0. */
  const unsent = new Map<string, number>()
  /** The sums over those periods of the last `read` that cannot change. */
  let final = { of: '', readAt: -Infinity, sums: new Map<string, number>() }

  async function sum(periods: readonly number[], known?: Counts): Promise<Map<string, number>> {
    const sums = new Map(known)
    const read = await Promise.all(periods.map((period) => readCounts(redis, keyOf(period))))
    for (const counts of read) for (const [id, count] of counts) addTo(sums, id, count)
    return sums
  }

  return {
    unsent,

    /** Moves `unsent` to Redis, to the counts of a period; resolves to what was sent. */
    async send(period: number): Promise<Counts> {
      const sent = new Map(unsent)
      if (sent.size === 0) return sent
      const writing = redis.multi()
      for (const [id, amount] of sent) writing.hincrby(keyOf(period), id, amount)
      await addCounts(writing.expire(keyOf(period), keptSeconds))
      for (const [id, amount] of sent) {
        addTo(unsent, id, -amount)
        if (unsent.get(id) === 0) unsent.delete(id)
      }
      return sent
    },

    /** Resolves to the sums over the `newest` period and so many before it. */
    async read(newest: number, before: number): Promise<Map<string, number>> {
      const periods = Array.from({ length: before + 1 }, (_, age) => newest - age)
      const of = `${newest} ${before}`
      const readAt = clock.now()
      if (final.of !== of || readAt - final.readAt > finalMs) {
        final = { of, readAt, sums: await sum(periods.slice(changingPeriods)) }
      }
      return sum(periods.slice(0, changingPeriods), final.sums)
    },
  }
}

/**
 * An amount that Redis cannot add to a damaged count is lost: repeating the transaction would add
 * the other amounts again and again.
 */
async function addCounts(transaction: ChainableCommander): Promise<void> {
  for (const [error] of await execEach(transaction)) {
    if (error !== null && !isDamaged(error)) throw error
  }
}

/** Leaves out damaged counts; a damaged hash counts as empty. */
async function readCounts(redis: Redis, key: string): Promise<Counts> {
  try {
    const counts = Object.entries(await redis.hgetall(key))
    return new Map(
      counts.flatMap(([id, count]) => (/^\d{1,15}$/.test(count) ? [[id, Number(count)]] : [])),
    )
  } catch (error) {
    if (error instanceof Error && isDamaged(error)) return new Map()
    throw error
  }
}
