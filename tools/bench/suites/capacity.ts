import type { Bench } from '../bench.ts'
import { capacityRatios, type Costs } from '../capacity-ratios.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound, type Round } from '../measure.ts'
import { ratio, ratioRange } from '../report/format.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import { median } from '../statistics.ts'
import type { Variant, VariantName } from '../variants.ts'
import { costHead, costs } from './costs.ts'
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
  bench.say(`capacity: warming up ${compared.join(', ')}`)
  for (const variant of variants) {
    await measureRound(bench, variant, demand(bench.options.warmUpSeconds))
  }
  const measure = (measured: Variant[], turns: number, workersLater: boolean) =>
    measureEach(abbaOrder(measured, turns), async (variant) => {
      const load = demand(bench.options.seconds)
      const round = await measureRound(bench, variant, load, { workersLater })
      bench.say(`capacity: ${describe(round)}${workersLater ? ', worker later' : ''}`)
      return round
    })
  const together = await measure(variants, turnsTogether, false)
  const apart = await measure(variants, bench.options.rounds, true)
  for (const variant of variants) await variant.stop()
  const oldest = await bench.start('intake', { node: oldestNode })
  await measureRound(bench, oldest, demand(bench.options.warmUpSeconds))
  const onOldest = await measure([oldest], turnsTogether, true)
  await oldest.stop()
  const ratiosTogether = capacityRatios(costsByTurn(together))
  return {
    name: 'capacity',
    title: 'Capacity and CPU per event',
    method,
    tables: [costTable('All at once', together), costTable('One after the other', apart, onOldest)],
    checks: capacityRatios(costsByTurn(apart)).map(({ item, what, values, limit }, index) => ({
      item,
      what,
      measured: `${ratioRange(values)}; all at once ${ratioRange(ratiosTogether[index]!.values)}`,
      limit: `≤ ${ratio(limit)}`,
      met: median(values) <= limit,
    })),
  }
}

const demand = (seconds: number): Demand => ({
  loop: 'closed',
  connections,
  seconds,
  requests: { kind: 'log', size: defaultBodySize },
})

const roundsOf = (rounds: Round[], name: string) => rounds.filter(({ variant }) => variant === name)

/** Groups the costs by turn: the n-th round of each variant belongs to the n-th turn. */
function costsByTurn(rounds: Round[]): Costs[] {
  const turns = rounds.length / compared.length
  return Array.from(
    { length: turns },
    (_, turn) => new Map(compared.map((name) => [name, roundsOf(rounds, name)[turn]!.cpuPerEvent])),
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

function costTable(when: string, rounds: Round[], onOldestNode: Round[] = []): Table {
  return {
    title: `${when}: events per second, and microseconds of CPU per event`,
    head: ['variant', ...costHead],
    rows: [
      ...compared.map((name) => [name, ...costs(roundsOf(rounds, name))]),
      ...(onOldestNode.length === 0 ? [] : [['intake, oldest Node', ...costs(onOldestNode)]]),
    ],
    note: `Rounds of each variant: ${rounds.length / compared.length}. Delivered: until the last row is visible. The load generator shares the machine.`,
  }
}
