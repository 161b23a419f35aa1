import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound } from '../measure.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import { median } from '../statistics.ts'
import type { Variant } from '../variants.ts'
import { ackTable, judgedLevel, latencyCheck, levels, type OpenRound } from './latency-tables.ts'
import type { SuiteResult } from './suite.ts'

const requests = { kind: 'log', size: defaultBodySize } as const
const capacityConnections = 64
/**
 * The capacity is the median of this many rounds. One round is not enough: on one day, single
 * rounds varied from 4,800 to 7,400 events per second.
 */
const capacityTurns = 3
const openConnections = 256
/**
 * How many seconds longer than `--seconds` an open-loop round is. Its percentiles need more events
 * than the costs and rates that other rounds measure.
 */
const openExtraSeconds = 0.5
/** Additional turns for the load whose latency has a limit (`judgedLevel`). */
const extraTurns = 2

const method = `Open loop: requests become due at random moments (Poisson) and their latency counts from then. The rates are
shares of what Intake accepted in a closed loop at the start of this suite; \`bare\` gets the same. The worker and
ClickHouse, at idle priority, run on the same cores.`

/** Measures the latency of acknowledgements under load. */
export async function latency(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const intake = await bench.start('intake')
  const variants = [intake, await bench.start('bare')]
  const closed = (variant: Variant, seconds: number) =>
    measureRound(bench, variant, {
      loop: 'closed',
      connections: capacityConnections,
      seconds,
      requests,
    })
  for (const variant of variants) await closed(variant, options.warmUpSeconds)
  const closedRounds = await measureEach(Array<Variant>(capacityTurns).fill(intake), (variant) =>
    closed(variant, options.seconds),
  )
  const capacity = median(closedRounds.map(({ acceptedPerSecond }) => acceptedPerSecond))
  bench.say(`latency: capacity ${Math.round(capacity)}/s, warming up for the open loop`)
  const demand = (level: number, seconds = options.seconds + openExtraSeconds): Demand => ({
    loop: 'open',
    rate: capacity * level,
    connections: openConnections,
    seconds,
    requests,
  })
  for (const variant of variants) {
    await measureRound(bench, variant, demand(judgedLevel, options.warmUpSeconds))
  }

  const open = async (variant: Variant, level: number) => {
    const round = await measureRound(bench, variant, demand(level))
    const { p99 } = round.load.latencyMs
    bench.say(`latency: ${variant.name} at ${level * 100} %: p99 ${p99.toFixed(1)} ms`)
    return round
  }
  const rounds: OpenRound[] = []
  for (const level of levels) {
    const atLevel = (variant: Variant) => open(variant, level)
    const turns = level === judgedLevel ? options.rounds + extraTurns : 1
    const measured = await measureEach(abbaOrder(variants, turns), atLevel)
    rounds.push(...measured.map((round) => ({ level, round })))
  }
  for (const variant of variants) await variant.stop()

  return {
    name: 'latency',
    title: 'Latency',
    method,
    tables: [ackTable(rounds, capacity)],
    checks: [latencyCheck(rounds)],
  }
}
