import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { ClientIds } from '../load/client-ids.ts'
import { measureRound } from '../measure.ts'
import { number } from '../report/format.ts'
import { readMemory, readReservations, type ReservationKeys } from '../reservations.ts'
import type { Variant } from '../variants.ts'
import type { SuitePart } from './suite.ts'

const size = defaultBodySize
const entries = 100
const connections = 16
const secondsMax = 600
const bytesMax = 64

interface Step {
  kept: ReservationKeys
  /** Growth of `used_memory` since there were no reservations. */
  grown: number
}

/** The memory that an idempotency key takes in Redis. */
export async function measureReservations(shared: Bench): Promise<SuitePart> {
  // With few reservations in a level, each costs more of its hashes, as just after the first level (24,576).
  const totals = shared.options.quick ? [10_000, 50_000] : [10_000, 30_000, 100_000]
  const bench = await shared.withRedis('512mb')
  const variant = await bench.start('intake')
  const { keys } = bench.services
  bench.say('ids: reservations')
  await send(bench, variant, totals.at(-1) as number)
  const before = await readMemory(keys)
  const steps: Step[] = []
  for (const total of totals) {
    const sent = steps.at(-1)?.kept.reservations ?? 0
    await send(bench, variant, total - sent, 'uuidv4')
    const after = await readMemory(keys)
    const kept = await readReservations(keys)
    if (kept.reservations !== total) {
      throw new Error(`${total} keys were sent, ${kept.reservations} are reserved`)
    }
    steps.push({ kept, grown: after.used - before.used })
  }
  // Otherwise the search for reservations could miss existing ones.
  if (steps.at(-1)?.kept.counters === 0) throw new Error('no counter of reservations was found')
  await variant.stop()
  const { grown, kept } = steps.at(-1) as Step
  const each = grown / kept.reservations
  return {
    table: table(steps),
    checks: [
      {
        item: '8',
        what: `Redis, bytes per reservation, ${number(kept.reservations)} of them`,
        measured: number(each, 1),
        limit: `≤ ${bytesMax}`,
        met: each <= bytesMax,
      },
    ],
    raw: { before, steps },
  }
}

/** Resolves when all events are visible and the processes are idle. */
const send = (bench: Bench, variant: Variant, events: number, ids?: ClientIds) =>
  measureRound(bench, variant, {
    loop: 'closed',
    connections,
    seconds: secondsMax,
    requestsMax: events / entries,
    requests: { kind: 'batch', size, entries, gzip: false, ...(ids && { ids }) },
  })

function table(steps: Step[]) {
  return {
    title: 'Bytes of Redis per reservation',
    head: ['reservations', 'hashes', 'by `used_memory`', 'by `MEMORY USAGE` of the hashes'],
    rows: steps.map(({ kept, grown }) => [
      number(kept.reservations),
      number(kept.buckets),
      number(grown / kept.reservations, 1),
      number(kept.bytes / kept.reservations, 1),
    ]),
    note: `The hashes of a day form levels: a reservation goes to the first level whose hash is not full.`,
  }
}
