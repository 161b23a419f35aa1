import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound } from '../measure.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import { median, percentilesOf, type Percentiles } from '../statistics.ts'
import type { Variant } from '../variants.ts'
import { measureVisibility } from '../visibility.ts'
import {
  ackTable,
  idleTable,
  judgedLevel,
  latencyChecks,
  levels,
  visibleTable,
  type OpenRound,
} from './latency-tables.ts'
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
const idleRequests = 200
const idlePauseMs = 10

const method = `Open loop: requests become due at random moments (Poisson) and their latency counts from then. The rates are
shares of what Intake accepted in a closed loop at the start of this suite; \`bare\` gets the same. The worker and
ClickHouse, at idle priority, run on the same cores.`

/**
 * Measures the latency of acknowledgements, under load and without load, and the time until events
 * are visible.
 */
export async function latency(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const variants = [await bench.start('intake'), await bench.start('bare')] as const
  const [intake, bare] = variants
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

  const idle = {
    intake: await measureIdle(bench, intake),
    bare: await measureIdle(bench, bare),
    redis: await measureRedisWrite(bench),
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
  const visible = await measureVisibility(bench, intake, demand(judgedLevel))
  for (const variant of variants) await variant.stop()

  return {
    name: 'latency',
    title: 'Latency',
    method,
    tables: [ackTable(rounds, capacity), idleTable(idle), visibleTable(visible)],
    checks: latencyChecks(rounds, idle),
  }
}

/**
 * Sends requests one after the other, with pauses in between, so that everything is idle when a
 * request arrives.
 */
async function measureIdle(bench: Bench, variant: Variant): Promise<Percentiles> {
  const { load } = await measureRound(bench, variant, {
    loop: 'closed',
    connections: 1,
    seconds: 60,
    requestsMax: idleRequests,
    pauseMs: idlePauseMs,
    requests,
  })
  return load.latencyMs
}

/**
 * Measures a single Redis write, synced to disk: the minimum wait for a durable acknowledgement.
 */
async function measureRedisWrite({ services }: Bench): Promise<Percentiles> {
  const times: number[] = []
  for (let write = 0; write < idleRequests; write++) {
    const sent = performance.now()
    await services.keys.set('bench:write', 'x'.repeat(defaultBodySize))
    times.push(performance.now() - sent)
    await pause(idlePauseMs)
  }
  await services.keys.del('bench:write')
  return percentilesOf(times)
}
