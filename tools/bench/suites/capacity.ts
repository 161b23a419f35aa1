import { execFileSync } from 'node:child_process'
import type { Bench } from '../bench.ts'
import { capacityRatios, type Costs } from '../capacity-ratios.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound, type Round } from '../measure.ts'
import { range, ratio, ratioRange } from '../report/format.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import { median } from '../statistics.ts'
import type { Variant, VariantName } from '../variants.ts'
import type { SuiteResult, Table } from './suite.ts'

const connections = 64
const turnsTogether = 2
/** The oldest Node that Intake supports; tools/scripts/bench.mjs installs it. */
const oldestNode = process.env['BENCH_OLDEST_NODE'] ?? process.execPath
const compared = ['intake', 'bare', 'durable', 'naive'] as const satisfies VariantName[]

const method = `Closed loop over ${connections} keep-alive connections, bodies of ${defaultBodySize} B, one gateway and one worker process per
variant. **All at once**: worker and ClickHouse work at the same time as the gateway. **One after the other**: the worker
is frozen during the load and drains everything after it; the limits apply to these rounds.`

export async function capacity(bench: Bench): Promise<SuiteResult> {
  const variants: Variant[] = []
  for (const name of compared) variants.push(await bench.start(name))
  await warmUp(bench, variants)
  const together = await measureTogether(bench, variants)
  const apart = await measureApart(bench, variants)
  await stopAll(variants)
  const oldest = await measureOldestNode(bench)
  const [costsTogether, costsApart] = [costsByTurn(together), costsByTurn(apart)]
  const valuesTogether = new Map(
    capacityRatios(costsTogether).map(({ what, values }) => [what, values]),
  )
  return {
    name: 'capacity',
    title: 'Capacity and CPU per event',
    method,
    tables: [
      costTable('All at once', together),
      costTable('One after the other', apart),
      {
        ...costTable(
          `The oldest supported Node, ${versionOf(oldestNode)}, one after the other`,
          oldest,
        ),
        note: 'After the other variants, not in turn with them: compare with care.',
      },
    ],
    checks: capacityRatios(costsApart).map(({ item, what, values, limit }) => ({
      item,
      what,
      measured: `${ratioRange(values)}; all at once ${ratioRange(valuesTogether.get(what) ?? [])}`,
      limit: `≤ ${ratio(limit)}`,
      met: median(values) <= limit,
    })),
  }
}

async function warmUp(bench: Bench, variants: Variant[]): Promise<void> {
  bench.say(`capacity: warming up ${variants.map(({ name }) => name).join(', ')}`)
  for (const variant of variants) {
    await measureRound(bench, variant, demand(bench.options.warmUpSeconds))
  }
}

const versionOf = (node: string) =>
  execFileSync(node, ['--version'], { encoding: 'utf8', timeout: 10_000 }).trim()

/** Measures Intake once more, one after the other, on the oldest Node that it supports. */
async function measureOldestNode(bench: Bench): Promise<Round[]> {
  const intake = await bench.start('intake', { node: oldestNode })
  await warmUp(bench, [intake])
  const rounds = await measureEach(abbaOrder([intake], turnsTogether), (variant) =>
    measure(bench, variant, { workersLater: true }),
  )
  await intake.stop()
  return rounds
}

async function stopAll(variants: Variant[]): Promise<void> {
  for (const variant of variants) await variant.stop()
}

const measureTogether = (bench: Bench, variants: Variant[]): Promise<Round[]> =>
  measureEach(abbaOrder(variants, turnsTogether), (variant) =>
    measure(bench, variant, { workersLater: false }),
  )

const measureApart = (bench: Bench, variants: Variant[]): Promise<Round[]> =>
  bench.rounds.measure({ items: variants, turns: bench.options.rounds }, (variant) =>
    measure(bench, variant, { workersLater: true }),
  )

async function measure(
  bench: Bench,
  variant: Variant,
  options: { workersLater: boolean },
): Promise<Round> {
  const round = await measureRound(bench, variant, demand(bench.options.seconds), options)
  bench.say(`capacity: ${describe(round)}${options.workersLater ? ', worker later' : ''}`)
  return round
}

const demand = (seconds: number): Demand => ({
  loop: 'closed',
  connections,
  seconds,
  requests: { kind: 'log', size: defaultBodySize },
})

const namesOf = (rounds: Round[]) => [...new Set(rounds.map(({ variant }) => variant))]
const roundsOf = (rounds: Round[], name: string) => rounds.filter(({ variant }) => variant === name)

/** Groups the costs by turn: the n-th round of each variant belongs to the n-th turn. */
function costsByTurn(rounds: Round[]): Costs[] {
  const byName = namesOf(rounds).map((name) => ({ name, own: roundsOf(rounds, name) }))
  const turns = Math.max(0, ...byName.map(({ own }) => own.length))
  return Array.from(
    { length: turns },
    (_, turn) => new Map(byName.map(({ name, own }) => [name, (own[turn] as Round).cpuPerEvent])),
  )
}

function describe({ variant, acceptedPerSecond, cpuPerEvent: cpu, foreignShare }: Round): string {
  const us = (value: number) => value.toFixed(1)
  return (
    `${variant}: ${Math.round(acceptedPerSecond)}/s, gateway ${us(cpu.gateway)}, ` +
    `redis ${us(cpu.redis)}, worker ${us(cpu.worker)}, clickhouse ${us(cpu.clickhouse)} µs, ` +
    `foreign ${(foreignShare * 100).toFixed(0)} %`
  )
}

function costTable(when: string, rounds: Round[]): Table {
  const names = namesOf(rounds)
  const counts = names.map((name) => `${name} ${roundsOf(rounds, name).length}`)
  return {
    title: `${when}: events per second, and microseconds of CPU per event`,
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
    note: `Rounds: ${counts.join(', ')}. Delivered: until the last row is visible. The load generator shares the machine.`,
  }
}
