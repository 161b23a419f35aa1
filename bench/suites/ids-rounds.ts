import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import type { RequestKind } from '../load/requests.ts'
import { measureRound, type Round } from '../measure.ts'
import { range, ratio, ratioRange } from '../report/format.ts'
import { median } from '../statistics.ts'
import type { Variant } from '../variants.ts'
import type { SuitePart } from './suite.ts'

const size = defaultBodySize
const plain = { kind: 'log', size } as const
const batch = { kind: 'batch', size, entries: 100, gzip: false } as const
const ids = 'uuidv7'
const ratioMax = 1.15

interface Shape {
  label: string
  connections: number
  requests: RequestKind
}

const pairs: { without: Shape; withIds: Shape }[] = [
  {
    without: { label: 'one per request', connections: 64, requests: plain },
    withIds: { label: 'one per request, ids', connections: 64, requests: { ...plain, ids } },
  },
  {
    without: { label: '100 per request', connections: 16, requests: batch },
    withIds: { label: '100 per request, ids', connections: 16, requests: { ...batch, ids } },
  },
]
const shapes = pairs.flatMap(({ without, withIds }) => [without, withIds])

type Measured = Round & { shape: Shape }

/** The gateway's CPU per event with a UUIDv7 from the client, against none. */
export async function measureIdRounds(bench: Bench): Promise<SuitePart> {
  const { options } = bench
  const variant = await bench.start('intake')
  bench.say('ids: warming up')
  for (const shape of shapes) await measure(bench, variant, shape, options.warmUpSeconds / 2)
  const plan = { items: shapes, turns: options.rounds + 1 }
  const rounds = await bench.rounds.measure(plan, async (shape): Promise<Measured> => {
    const round = await measure(bench, variant, shape, options.seconds)
    bench.say(`ids: ${shape.label}: gateway ${round.cpuPerEvent.gateway.toFixed(2)} µs per event`)
    return { ...round, shape }
  })
  await variant.stop()
  return { table: table(rounds), checks: pairs.map((pair) => check(pair, rounds)), raw: rounds }
}

function measure(
  bench: Bench,
  variant: Variant,
  { connections, requests }: Shape,
  seconds: number,
): Promise<Round> {
  const demand: Demand = { loop: 'closed', connections, seconds, requests }
  return measureRound(bench, variant, demand, { workersLater: true })
}

const roundsOf = (rounds: Measured[], shape: Shape) => rounds.filter((one) => one.shape === shape)

function check({ without, withIds }: (typeof pairs)[number], rounds: Measured[]) {
  const gateway = (shape: Shape) => roundsOf(rounds, shape).map((one) => one.cpuPerEvent.gateway)
  const base = gateway(without)
  const ratios = gateway(withIds).map((value, turn) => value / (base[turn] as number))
  return {
    item: '8',
    what: `Gateway CPU per event with UUIDv7 ids ÷ without, ${without.label}`,
    measured: ratioRange(ratios),
    limit: `≤ ${ratio(ratioMax)}`,
    met: median(ratios) <= ratioMax,
  }
}

function table(rounds: Measured[]) {
  return {
    title: 'Events per second, and microseconds of CPU per event',
    head: ['events', 'accepted/s', 'gateway', 'Redis', 'worker', 'ClickHouse', 'load', 'others, %'],
    rows: shapes.map((shape) => {
      const own = roundsOf(rounds, shape)
      const of = (pick: (round: Round) => number, digits = 1) => range(own.map(pick), digits)
      return [
        shape.label,
        of((round) => round.acceptedPerSecond, 0),
        of((round) => round.cpuPerEvent.gateway),
        of((round) => round.cpuPerEvent.redis),
        of((round) => round.cpuPerEvent.worker),
        of((round) => round.cpuPerEvent.clickhouse),
        of((round) => round.cpuPerEvent.load),
        of((round) => round.foreignShare * 100, 0),
      ]
    }),
    note: `Median, in brackets the smallest and largest of the rounds. Ratios with a limit are computed within
each turn. "Others": share of all processors that other programs used.`,
  }
}
