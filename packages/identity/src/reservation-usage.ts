import { kinds, limits, type RecordKind } from '@intake/contract'
import type { Day } from './reservation-buckets.ts'
import { addCounts, readCounts, type Redis } from '@intake/redis'
import type { Clock } from '@intake/runtime'

/** The key of the hash for one day and kind, which maps API key ids to numbers of reservations. */
const usageKey = (kind: RecordKind, day: Day) => `{intake}:reservations:used:${kind}:${day}`

interface Tally {
  total: number
  byKey: Map<string, number>
}

type Tallies = Record<RecordKind, Tally>

const createTallies = (): Tallies => ({
  logs: { total: 0, byKey: new Map() },
  feedback: { total: 0, byKey: new Map() },
})

function count(tally: Tally, apiKeyId: string, number: number): void {
  tally.total += number
  tally.byKey.set(apiKeyId, (tally.byKey.get(apiKeyId) ?? 0) + number)
}

/**
 * Only the counts of today and yesterday can change, because a gateway that has not noticed
 * midnight yet still counts for yesterday. Older counts are final.
 */
const changingDays = 2
/** The counts of older days are read again at this interval, because Redis may have lost them. */
const pastMs = 10 * 60_000

/**
 * Counts reservations without asking Redis for each. If a gateway is killed, the reservations that
 * it has counted since the last `sync` are missing from the counts.
 */
export function createReservationUsage(options: { redis: Redis; clock: Pick<Clock, 'now'> }) {
  const { redis, clock } = options
  /** `unsent` has what this gateway has counted since the last `sync`. */
  let known = createTallies()
  let unsent = createTallies()
  /** The final counts, which are those of the days before yesterday. */
  let past = { today: -1, readAt: -Infinity, tallies: createTallies() }

  return {
    add: (kind: RecordKind, apiKeyId: string) => count(unsent[kind], apiKeyId, 1),
    /** Returns what this gateway knows, including the reservations of other gateways. */
    total: (kind: RecordKind) => known[kind].total + unsent[kind].total,
    of: (kind: RecordKind, apiKeyId: string) =>
      (known[kind].byKey.get(apiKeyId) ?? 0) + (unsent[kind].byKey.get(apiKeyId) ?? 0),
    /** The number of reservations of the API key that has the most, as of the last `sync`. */
    largest: (kind: RecordKind) =>
      [...known[kind].byKey.values()].reduce((largest, one) => Math.max(largest, one), 0),
    isUnsent: () => kinds.some((kind) => unsent[kind].total > 0),

    /** Sends the new counts to Redis, and reads the sums over all gateways. */
    async sync(today: Day): Promise<void> {
      const sent = structuredClone(unsent)
      if (kinds.some((kind) => sent[kind].total > 0)) await write(sent, today)
      known = await readTallies(today)
    },
  }

  async function write(sent: Tallies, today: Day): Promise<void> {
    const writing = redis.multi()
    for (const kind of kinds) {
      for (const [apiKeyId, number] of sent[kind].byKey) {
        writing.hincrby(usageKey(kind, today), apiKeyId, number)
      }
      if (sent[kind].total > 0) {
        writing.expireat(usageKey(kind, today), (today + 1 + limits.keyDays[kind]) * 86_400)
      }
    }
    await addCounts(writing)
    subtract(sent)
  }

  function subtract(sent: Tallies): void {
    for (const kind of kinds) {
      for (const [apiKeyId, number] of sent[kind].byKey) {
        count(known[kind], apiKeyId, number)
        count(unsent[kind], apiKeyId, -number)
        if (unsent[kind].byKey.get(apiKeyId) === 0) unsent[kind].byKey.delete(apiKeyId)
      }
    }
  }

  async function readTallies(today: Day): Promise<Tallies> {
    const isOld = clock.now() - past.readAt > pastMs
    if (past.today !== today || isOld) {
      const tallies = await readDays(redis, today, { from: changingDays, to: Infinity })
      past = { today, readAt: clock.now(), tallies }
    }
    return readDays(redis, today, { from: 0, to: changingDays, onto: past.tallies })
  }
}

/** Adds the counts of the days that are `from` to `to` days ago, exclusive, to `onto`. */
async function readDays(
  redis: Redis,
  today: Day,
  { from, to, onto = createTallies() }: { from: number; to: number; onto?: Tallies },
): Promise<Tallies> {
  const tallies = structuredClone(onto)
  const reading = kinds.flatMap((kind) =>
    Array.from({ length: Math.min(to, limits.keyDays[kind] + 1) - from }, async (_, index) => {
      const used = await readCounts(redis, usageKey(kind, today - from - index))
      for (const [apiKeyId, number] of used) count(tallies[kind], apiKeyId, number)
    }),
  )
  await Promise.all(reading)
  return tallies
}
