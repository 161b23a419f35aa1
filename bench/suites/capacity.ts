import { parts, type CpuByPart } from '../accounting.ts'
import type { Bench } from '../bench.ts'
import { capacityRatios, ownCost, type Costs } from '../capacity-ratios.ts'
import { defaultBodySize } from '../corpus.ts'
import { measureRound, type Round } from '../measure.ts'
import { range, ratio } from '../report/format.ts'
import { cpuBars } from '../report/plots.ts'
import { abbaOrder } from '../rounds.ts'
import { median } from '../statistics.ts'
import type { Variant, VariantName } from '../variants.ts'
import type { SuiteResult, Table } from './suite.ts'

const connections = 64
const judgedNames: ReadonlySet<VariantName> = new Set(['intake', 'bare', 'naive'])

const method = `Closed loop over ${connections} keep-alive connections, bodies of ${defaultBodySize} B, one
gateway and one worker process per variant, the same Redis (\`appendfsync always\`) and the same form of
table for all. Rounds interleaved ABBA, more of them for the variants that are judged. CPU from
\`/proc/<pid>/stat\`, from the first request until all rows are visible and all processes are at rest.`

/** Events per second and CPU per event of every variant. */
export async function capacity(bench: Bench): Promise<SuiteResult> {
  const { variants } = bench.options
  const peer = variants.includes('benthos') ? await bench.peer() : undefined
  const leftOut = peer !== undefined && 'leftOut' in peer ? peer.leftOut : undefined
  const measured = variants.filter((name) => name !== 'benthos' || leftOut === undefined)
  const { rounds, costs } = await measureCapacity(bench, measured)
  return {
    name: 'capacity',
    title: 'Capacity and CPU per event',
    method: leftOut === undefined ? method : `${method} Benthos was left out: ${leftOut}.`,
    tables: [costTable(rounds, [...costs.keys()]), ratioTable(costs)],
    checks: capacityRatios(costs).map(({ item, what, value, limit }) => ({
      item,
      what,
      measured: ratio(value),
      limit: `≤ ${ratio(limit)}`,
      met: value <= limit,
    })),
    plots: [{ name: 'capacity', title: 'CPU per event by process', svg: cpuBars(costs) }],
    raw: rounds,
  }
}

/** @returns every round, and the median of the rounds of each variant */
export async function measureCapacity(
  bench: Bench,
  names: readonly VariantName[],
): Promise<{ rounds: Round[]; costs: Costs }> {
  const { options } = bench
  const variants: Variant[] = []
  for (const name of names) variants.push(await bench.start(name))
  bench.say(`capacity: warming up ${names.join(', ')}`)
  for (const variant of variants) await measure(bench, variant, options.warmUpSeconds)
  const rounds: Round[] = []
  const undisturbed = bench.createRoundRepeater()
  const isJudged = ({ name }: Variant) => judgedNames.has(name)
  for (const variant of abbaOrder(variants, options.rounds, isJudged)) {
    const round = await undisturbed(() => measure(bench, variant, options.seconds))
    bench.say(`capacity: ${describe(round)}`)
    rounds.push(round)
  }
  for (const variant of variants) await variant.stop()
  const costs = new Map(variants.map(({ name }) => [name, medianCost(roundsOf(rounds, name))]))
  return { rounds, costs }
}

function measure(bench: Bench, variant: Variant, seconds: number): Promise<Round> {
  return measureRound(bench, variant, {
    loop: 'closed',
    connections,
    seconds,
    requests: { kind: 'log', size: defaultBodySize },
  })
}

const roundsOf = (rounds: Round[], name: string) => rounds.filter(({ variant }) => variant === name)

function medianCost(rounds: Round[]): CpuByPart {
  return Object.fromEntries(
    parts.map((part) => [part, median(rounds.map(({ cpuPerEvent }) => cpuPerEvent[part]))]),
  ) as CpuByPart
}

function describe({ variant, acceptedPerSecond, cpuPerEvent: cpu, foreignShare }: Round): string {
  const us = (value: number) => value.toFixed(1)
  return (
    `${variant}: ${Math.round(acceptedPerSecond)}/s, gateway ${us(cpu.gateway)}, ` +
    `redis ${us(cpu.redis)}, worker ${us(cpu.worker)}, clickhouse ${us(cpu.clickhouse)} µs, ` +
    `foreign ${(foreignShare * 100).toFixed(0)} %`
  )
}

function costTable(rounds: Round[], names: string[]): Table {
  const counts = names.map((name) => `${name} ${roundsOf(rounds, name).length}`)
  return {
    title: 'Events per second, and microseconds of CPU per event',
    head: [
      'variant',
      'accepted/s',
      'delivered/s',
      'gateway',
      'Redis',
      'worker',
      'ClickHouse',
      'load',
    ],
    rows: names.map((name) => {
      const own = roundsOf(rounds, name)
      const of = (pick: (round: Round) => number, digits = 1) => range(own.map(pick), digits)
      return [
        name,
        of((round) => round.acceptedPerSecond, 0),
        of((round) => round.deliveredPerSecond, 0),
        of((round) => round.cpuPerEvent.gateway),
        of((round) => round.cpuPerEvent.redis),
        of((round) => round.cpuPerEvent.worker),
        of((round) => round.cpuPerEvent.clickhouse),
        of((round) => round.cpuPerEvent.load),
      ]
    }),
    note: `Median, and in brackets the smallest and the largest of the rounds (${counts.join(', ')}).
All processes share the machine, the load generator too: compare, do not extrapolate.`,
  }
}

function ratioTable(costs: Costs): Table {
  const bare = costs.get('bare')
  const naive = costs.get('naive')
  const over = (value: number, base: number | undefined) =>
    base === undefined ? '–' : ratio(value / base)
  return {
    title: 'Ratios of CPU per event',
    head: ['variant', 'gateway ÷ bare', 'gateway + Redis ÷ naive', 'beyond bare ÷ naive'],
    rows: [...costs].map(([name, cost]) => [
      name,
      over(cost.gateway, bare?.gateway),
      over(cost.gateway + cost.redis, naive && naive.gateway + naive.redis),
      over(ownCost(cost) - (bare?.gateway ?? NaN), bare && naive && ownCost(naive) - bare.gateway),
    ]),
    note: '"Beyond bare": gateway, Redis and worker together, less the gateway of `bare`.',
  }
}
