import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound, type Round } from '../measure.ts'
import { range } from '../report/format.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import type { Variant, VariantName } from '../variants.ts'
import type { SuiteResult, Table } from './suite.ts'

const turns = 3
const size = defaultBodySize
const shapes = [
  {
    title: 'Batches of 100',
    connections: 16,
    requests: { kind: 'batch', size, entries: 100, gzip: false },
  },
  { title: 'Single events', connections: 64, requests: { kind: 'log', size } },
] as const
type Shape = (typeof shapes)[number]

const method = `Closed loop, batches of 100 over 16 connections and single events over 64. Rounds
interleaved (ABBA), everything at once. CPU of all processes of a variant, until all rows are visible and
all processes are idle. \`direct\` and \`benthos\` respond when ClickHouse has stored the rows: they gather the
rows of the requests that wait, so the number of connections limits the size of their inserts.`

/** Measures what an event costs in all processes together, and what it costs others. */
export async function peers(bench: Bench): Promise<SuiteResult> {
  const peer = await bench.peer()
  const left = 'leftOut' in peer ? ` Benthos was left out: ${peer.leftOut}.` : ''
  const names: VariantName[] = ['intake', 'direct', ...(left === '' ? ['benthos' as const] : [])]
  const variants: Variant[] = []
  for (const name of names) variants.push(await bench.start(name))
  const tables: Table[] = []
  for (const shape of shapes) tables.push(await compare(bench, variants, shape))
  for (const variant of variants) await variant.stop()
  return {
    name: 'peers',
    title: 'All processes, and others',
    method: method + left,
    tables,
    checks: [],
  }
}

async function compare(bench: Bench, variants: Variant[], shape: Shape): Promise<Table> {
  const { title, connections, requests } = shape
  const demand = (seconds: number): Demand => ({ loop: 'closed', connections, seconds, requests })
  for (const variant of variants) {
    await measureRound(bench, variant, demand(bench.options.warmUpSeconds / 2))
  }
  const order = abbaOrder(variants, Math.min(turns, bench.options.rounds))
  const rounds = await measureEach(order, async (variant) => {
    const round = await measureRound(bench, variant, demand(bench.options.seconds))
    bench.say(`peers: ${title}: ${variant.name}: ${sumOf(round).toFixed(1)} µs per event`)
    return round
  })
  return {
    title: `${title}: microseconds of CPU per event`,
    head: [
      'variant',
      'all processes',
      'gateway',
      'Redis',
      'worker',
      'ClickHouse',
      'accepted/s',
      'delivered/s',
      'ack p50, ms',
    ],
    rows: variants.map(({ name }) => {
      const own = rounds.filter((round) => round.variant === name)
      const of = (pick: (round: Round) => number, digits = 1) => range(own.map(pick), digits)
      return [
        name,
        of(sumOf),
        of(({ cpuPerEvent }) => cpuPerEvent.gateway),
        of(({ cpuPerEvent }) => cpuPerEvent.redis),
        of(({ cpuPerEvent }) => cpuPerEvent.worker),
        of(({ cpuPerEvent }) => cpuPerEvent.clickhouse),
        of((round) => round.acceptedPerSecond, 0),
        of((round) => round.deliveredPerSecond, 0),
        of((round) => round.load.latencyMs.p50),
      ]
    }),
    note: 'Median, in brackets the smallest and largest of the rounds. The program Benthos counts as a gateway.',
  }
}

const sumOf = ({ cpuPerEvent: { gateway, redis, worker, clickhouse } }: Round) =>
  gateway + redis + worker + clickhouse
