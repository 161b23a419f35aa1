import { hasGo } from '../benthos.ts'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { countLosses, sentWhileKilling } from '../losses.ts'
import type { Demand } from '../load/main.ts'
import { measureRound, type Round } from '../measure.ts'
import { range } from '../report/format.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import type { Variant } from '../variants.ts'
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

const method = `Closed loop, batches of 100 over 16 connections and single events over 64, everything at once. \`direct\` and
\`benthos\` respond when ClickHouse has stored the rows: they gather the rows of the requests that wait, so the number of
connections limits their inserts.`

/** Measures what an event costs in all processes together, and what it costs in other designs. */
export async function peers(bench: Bench): Promise<SuiteResult> {
  const withGo = await hasGo()
  const names = ['intake', 'direct', ...(withGo ? (['benthos'] as const) : [])] as const
  const variants: Variant[] = []
  for (const name of names) variants.push(await bench.start(name))
  const tables: Table[] = []
  for (const shape of shapes) tables.push(await compare(bench, variants, shape))
  tables.push(await lossTable(bench, variants))
  for (const variant of variants) await variant.stop()
  return {
    name: 'peers',
    title: 'All processes, and other designs',
    method: withGo ? method : `${method} Benthos was left out: there is no Go to build it.`,
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
    head: ['variant', 'all processes', 'accepted/s', 'ack p50, ms'],
    rows: variants.map(({ name }) => {
      const own = rounds.filter((round) => round.variant === name)
      const of = (pick: (round: Round) => number, digits: number) => range(own.map(pick), digits)
      return [
        name,
        of(sumOf, 1),
        of((round) => round.acceptedPerSecond, 0),
        of(({ load }) => load.latencyMs.p50, 1),
      ]
    }),
  }
}

const sumOf = ({ cpuPerEvent: { gateway, redis, worker, clickhouse } }: Round) =>
  gateway + redis + worker + clickhouse

async function lossTable(bench: Bench, variants: Variant[]): Promise<Table> {
  const rows: Table['rows'] = []
  for (const variant of variants) {
    const { acknowledged, kills, lost, doubled } = await countLosses(bench, variant)
    bench.say(`peers: ${variant.name}: ${lost} lost, ${doubled} doubled`)
    rows.push([variant.name, acknowledged, kills, lost, doubled])
  }
  return {
    title: 'Acknowledged events, while processes are killed',
    head: ['variant', 'acknowledged', 'kills', 'lost', 'doubled'],
    rows,
    note: sentWhileKilling,
  }
}
