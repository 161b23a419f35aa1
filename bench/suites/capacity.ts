import type { CpuByPart } from '../accounting.ts'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { measureRound, type Round } from '../measure.ts'
import { abbaOrder, measureUndisturbed } from '../rounds.ts'
import { median } from '../statistics.ts'
import type { Variant } from '../variants.ts'
import { cpuBars } from '../report/plots.ts'
import { range, ratio } from '../report/format.ts'
import type { Check, SuiteResult } from './suite.ts'

const connections = 64
/** Until the compilers of V8 have done their work. */
const warmUpSeconds = 5

const method = `Closed loop over ${connections} keep-alive connections, ${defaultBodySize} B bodies, one gateway
and one worker process per variant, the same Redis (\`appendfsync always\`) and the same table for all.
Rounds interleaved ABBA. CPU from \`/proc/<pid>/stat\`, from the first request until all rows are
visible and all processes are at rest.`

/** Events per second and CPU per event of every variant. */
export async function capacity(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const variants: Variant[] = []
  for (const name of options.variants) variants.push(await bench.start(name))
  for (const variant of variants) {
    bench.say(`capacity: warming up ${variant.name}`)
    await measure(bench, variant, options.seconds < 2 ? 2 : warmUpSeconds)
  }
  const rounds: Round[] = []
  for (const variant of abbaOrder(variants, options.rounds)) {
    const round = await measureUndisturbed(() => measure(bench, variant, options.seconds), {
      foreignShareMax: options.foreignShareMax,
      log: bench.rounds,
    })
    bench.say(`capacity: ${describe(round)}`)
    rounds.push(round)
  }
  for (const variant of variants) await variant.stop()

  const costs = new Map(
    variants.map(({ name }) => [name as string, medianCost(rounds.filter(isOf(name)))]),
  )
  return {
    name: 'capacity',
    title: 'Capacity and CPU per event',
    method,
    tables: [costTable(variants, rounds), ratioTable(costs)],
    checks: capacityChecks(costs),
    plots: [
      {
        name: 'capacity',
        title: 'CPU per event by process',
        svg: cpuBars('CPU per event, microseconds', [...costs]),
      },
    ],
    raw: rounds,
  }
}

function measure(bench: Bench, variant: Variant, seconds: number): Promise<Round> {
  return measureRound(bench, variant, {
    loop: 'closed',
    connections,
    seconds,
    requests: { kind: 'log', size: defaultBodySize },
  })
}

const isOf = (name: string) => (round: Round) => round.variant === name

function describe({ variant, acceptedPerSecond, cpuPerEvent: cpu, foreignShare }: Round): string {
  const us = (value: number) => value.toFixed(1)
  return (
    `${variant}: ${Math.round(acceptedPerSecond)}/s, gateway ${us(cpu.gateway)}, ` +
    `redis ${us(cpu.redis)}, worker ${us(cpu.worker)}, clickhouse ${us(cpu.clickhouse)} µs, ` +
    `foreign ${(foreignShare * 100).toFixed(0)} %`
  )
}

function medianCost(rounds: Round[]): CpuByPart {
  const of = (part: keyof CpuByPart) => median(rounds.map(({ cpuPerEvent }) => cpuPerEvent[part]))
  return {
    gateway: of('gateway'),
    redis: of('redis'),
    worker: of('worker'),
    clickhouse: of('clickhouse'),
    load: of('load'),
    other: of('other'),
  }
}

function costTable(variants: Variant[], rounds: Round[]) {
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
    rows: variants.map(({ name }) => {
      const own = rounds.filter(isOf(name))
      const cpu = (part: keyof CpuByPart) =>
        range(
          own.map((round) => round.cpuPerEvent[part]),
          1,
        )
      return [
        name,
        range(
          own.map((round) => round.acceptedPerSecond),
          0,
        ),
        range(
          own.map((round) => round.deliveredPerSecond),
          0,
        ),
        cpu('gateway'),
        cpu('redis'),
        cpu('worker'),
        cpu('clickhouse'),
        cpu('load'),
      ]
    }),
    note: `Median, and in brackets the smallest and the largest of ${rounds.length / variants.length} rounds.
All processes share the machine, the load generator too: compare, do not extrapolate.`,
  }
}

/** Everything but ClickHouse and the load generator: what receiving and queueing costs. */
const ownCost = ({ gateway, redis, worker }: CpuByPart) => gateway + redis + worker

function ratioTable(costs: Map<string, CpuByPart>) {
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

/** The ratios the guard checks as well. */
export function capacityChecks(costs: Map<string, CpuByPart>): Check[] {
  const [intake, bare, naive] = ['intake', 'bare', 'naive'].map((name) => costs.get(name))
  const checks: Check[] = []
  if (intake && bare) {
    checks.push(limitCheck('1', 'Gateway CPU per event ÷ bare', intake.gateway / bare.gateway, 1.4))
  }
  if (intake && naive) {
    const measured = (intake.gateway + intake.redis) / (naive.gateway + naive.redis)
    checks.push(limitCheck('2', 'Gateway + Redis CPU per event ÷ naive', measured, 0.5))
  }
  if (intake && bare && naive) {
    const measured = (ownCost(intake) - bare.gateway) / (ownCost(naive) - bare.gateway)
    checks.push(limitCheck('2', 'Queue overhead (all beyond bare) ÷ naive', measured, 1 / 8))
  }
  return checks
}

function limitCheck(item: string, what: string, measured: number, limit: number): Check {
  return {
    item,
    what,
    measured: ratio(measured),
    limit: `≤ ${ratio(limit)}`,
    met: measured <= limit,
  }
}
