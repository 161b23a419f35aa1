import type { CpuByPart } from '../accounting.ts'
import type { Bench } from '../bench.ts'
import { bodySizes, defaultBodySize, type BodySize } from '../corpus.ts'
import { measureRound, type Round } from '../measure.ts'
import { number, range } from '../report/format.ts'
import { median } from '../statistics.ts'
import { abbaOrder } from '../rounds.ts'
import type { Variant } from '../variants.ts'
import type { Check, SuiteResult } from './suite.ts'

const sizes = [
  { gateways: 1, workers: 1 },
  { gateways: 4, workers: 1 },
  { gateways: 1, workers: 4 },
  { gateways: 4, workers: 4 },
] as const
type Size = (typeof sizes)[number]
const connectionCounts = [1, 16, 64, 256] as const
const defaultConnections = 64
/** The same load whatever the number of processes. */
const sharedConnections = 256
const roundsPerStart = 2
const toleranceShare = 0.1

const method = `Closed loop over ${sharedConnections} connections, shared by the gateways. Every number of
processes is started twice, in the order ABCD DCBA, warmed up with about as many events per gateway,
and measured for two rounds. Total: gateways, Redis, workers and ClickHouse. Sizes and connections:
${defaultConnections} connections where nothing else is said, one round each, one gateway, one worker.`

interface Shape {
  connections: number
  size: BodySize
}

/** Whether more processes, larger events or more connections change what an event costs. */
export async function scale(bench: Bench): Promise<SuiteResult> {
  const measured: { size: Size; round: Round }[] = []
  const repeat = bench.repeatDisturbed()
  const undisturbed = (variant: Variant, shape: Partial<Shape>) =>
    repeat(() => measure(bench, variant, shape))
  let running: { size: Size; variant: Variant } | undefined
  for (const size of abbaOrder(sizes, 2)) {
    if (running?.size !== size) {
      await running?.variant.stop()
      running = { size, variant: await bench.start('intake', size) }
      // Each gateway gets its share of the load only.
      const seconds = size.gateways * (bench.options.quick ? 0.25 : 3)
      await measure(bench, running.variant, { seconds, connections: sharedConnections })
    }
    for (let count = 0; count < roundsPerStart; count++) {
      const round = await undisturbed(running.variant, { connections: sharedConnections })
      bench.say(`scale: ${label(size)}: ${total(round.cpuPerEvent).toFixed(1)} µs per event`)
      measured.push({ size, round })
    }
  }
  // The last one of ABBA is the first again: one gateway, one worker.
  const { variant } = running as { variant: Variant }
  const bySize: Round[] = []
  for (const size of bodySizes) bySize.push(await undisturbed(variant, { size }))
  const byConnections: Round[] = []
  for (const connections of connectionCounts) {
    byConnections.push(await undisturbed(variant, { connections }))
  }
  await variant.stop()

  return {
    name: 'scale',
    title: 'More processes, larger events, more connections',
    method,
    tables: [
      processTable(measured),
      shapeTable(
        'body',
        bodySizes.map((size) => `${size} B`),
        bySize,
      ),
      shapeTable('connections', connectionCounts.map(String), byConnections),
    ],
    checks: [check(measured)],
    plots: [],
    raw: { measured, bySize, byConnections },
  }
}

async function measure(
  bench: Bench,
  variant: Variant,
  shape: Partial<Shape> & { seconds?: number },
): Promise<Round> {
  const { connections = defaultConnections, size = defaultBodySize } = shape
  return measureRound(bench, variant, {
    loop: 'closed',
    connections,
    seconds: shape.seconds ?? bench.options.seconds,
    requests: { kind: 'log', size },
  })
}

const label = ({ gateways, workers }: Size) => `${gateways} × ${workers}`

const total = ({ gateway, redis, worker, clickhouse }: CpuByPart) =>
  gateway + redis + worker + clickhouse

const costHead = ['accepted/s', 'total', 'gateway', 'Redis', 'worker', 'ClickHouse']

function costs(rounds: Round[]): string[] {
  const of = (pick: (round: Round) => number, digits = 1) => range(rounds.map(pick), digits)
  return [
    of((round) => round.acceptedPerSecond, 0),
    of((round) => total(round.cpuPerEvent)),
    of((round) => round.cpuPerEvent.gateway),
    of((round) => round.cpuPerEvent.redis),
    of((round) => round.cpuPerEvent.worker),
    of((round) => round.cpuPerEvent.clickhouse),
  ]
}

const roundsOf = (measured: { size: Size; round: Round }[], size: Size) =>
  measured.filter((one) => one.size === size).map(({ round }) => round)

function processTable(measured: { size: Size; round: Round }[]) {
  return {
    title: 'Gateways × workers: microseconds of CPU per event',
    head: ['gateways × workers', ...costHead],
    rows: sizes.map((size) => [label(size), ...costs(roundsOf(measured, size))]),
    note: 'Median, and in brackets the smallest and the largest of the rounds.',
  }
}

function shapeTable(what: string, names: string[], rounds: Round[]) {
  return {
    title: `By ${what}: microseconds of CPU per event`,
    head: [what, ...costHead, 'ack p50, ms'],
    rows: rounds.map((round, index) => [
      names[index] ?? '',
      ...costs([round]),
      number(round.load.latencyMs.p50, 1),
    ]),
    note: 'Latencies of a closed loop tell how busy it was, not what a client waits at a given load.',
  }
}

function check(measured: { size: Size; round: Round }[]): Check {
  const totals = sizes.map((size) =>
    median(roundsOf(measured, size).map(({ cpuPerEvent }) => total(cpuPerEvent))),
  )
  const [one = NaN, ...others] = totals
  const deviation = Math.max(...others.map((other) => Math.abs(other / one - 1)))
  return {
    item: '7',
    what: 'Total CPU per event with 1 or 4 gateways and workers, largest deviation from 1 × 1',
    measured: `${number(deviation * 100, 1)} %`,
    limit: `≤ ${toleranceShare * 100} %`,
    met: deviation <= toleranceShare,
  }
}
