import type { CpuByPart } from '../accounting.ts'
import type { Bench } from '../bench.ts'
import { bodySizes, defaultBodySize, type BodySize } from '../corpus.ts'
import { freeze, thaw } from '../freeze.ts'
import { measureRound, type Round } from '../measure.ts'
import type { BenchProcess } from '../process.ts'
import { number, range } from '../report/format.ts'
import { median } from '../statistics.ts'
import { measureEach } from '../rounds.ts'
import { untilReady, type Variant } from '../variants.ts'
import type { Check, SuiteResult } from './suite.ts'

interface Size {
  gateways: number
  workers: number
}

const single: Size = { gateways: 1, workers: 1 }
const fourfold: Size = { gateways: 4, workers: 4 }
const mixed: readonly Size[] = [
  { gateways: 4, workers: 1 },
  { gateways: 1, workers: 4 },
]
const defaultConnections = 64
/** The number of connections to all gateways together, however many gateways there are. */
const sharedConnections = 1024
/**
 * Seconds of warm-up in which V8 compiles the code: `all` for the four gateways together, then
 * `one` for a single gateway that gets the whole load.
 */
const warmUpSeconds = { all: 16, one: 4 }
const toleranceShare = 0.1

const method = `Closed loop over ${sharedConnections} connections, shared by the gateways. Processes that a round does not use are
frozen. Total: gateways, Redis, workers and ClickHouse. Body sizes: ${defaultConnections} connections, one round each, one gateway, one worker.`

interface SizeRound extends Round {
  size: Size
}

interface Shape {
  connections: number
  size: BodySize
}

/**
 * Measures whether more processes or larger events change the cost of an event.
 */
export async function scale(bench: Bench): Promise<SuiteResult> {
  const { quick, rounds } = bench.options
  const all = await bench.start('intake', { gateways: 4, workers: 4 })
  const connections = sharedConnections
  await measure(bench, all, { connections, seconds: quick ? 1 : warmUpSeconds.all })
  const one = await only(all, single)
  await measure(bench, one, { connections, seconds: quick ? 1 : warmUpSeconds.one })

  const measureSize = async (size: Size): Promise<SizeRound> => {
    const variant = await only(all, size)
    const round = await measure(bench, variant, { connections })
    bench.say(`scale: ${label(size)}: ${total(round.cpuPerEvent).toFixed(1)} µs per event`)
    return { ...round, size }
  }
  const measured = [
    ...(await bench.rounds.measure({ items: [single, fourfold], turns: rounds }, measureSize)),
    ...(await measureEach(mixed, measureSize)),
  ]
  await only(all, single)
  const seconds = Math.min(1.5, bench.options.seconds)
  const bySize = await measureEach(bodySizes, (size) => measure(bench, one, { size, seconds }))
  thaw([...all.gateways, ...all.workers])
  await all.stop()

  return {
    name: 'scale',
    title: 'More processes, larger events',
    method,
    tables: [
      processTable(measured),
      shapeTable(
        'body',
        bodySizes.map((size) => `${size} B`),
        bySize,
      ),
    ],
    checks: [check(measured)],
  }
}

/** Returns the variant with only as many processes as `size` says. Freezes the other processes. */
async function only(all: Variant, size: Size): Promise<Variant> {
  const split = (processes: BenchProcess[], count: number) => {
    freeze(processes.slice(count))
    thaw(processes.slice(0, count))
    return processes.slice(0, count)
  }
  const gateways = split(all.gateways, size.gateways)
  const workers = split(all.workers, size.workers)
  const ports = all.ports.slice(0, size.gateways)
  await untilReady(ports)
  return { ...all, ports, gateways, workers }
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

const roundsOf = (measured: SizeRound[], size: Size) => measured.filter((one) => one.size === size)

function processTable(measured: SizeRound[]) {
  return {
    title: 'Gateways × workers: microseconds of CPU per event',
    head: ['gateways × workers', ...costHead],
    rows: [single, ...mixed, fourfold].map((size) => [
      label(size),
      ...costs(roundsOf(measured, size)),
    ]),
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
  }
}

function check(measured: SizeRound[]): Check {
  const totals = (size: Size) =>
    roundsOf(measured, size).map(({ cpuPerEvent }) => total(cpuPerEvent))
  const ofSingle = totals(single)
  const deviations = totals(fourfold).map(
    (cost, turn) => (cost / (ofSingle[turn] ?? NaN) - 1) * 100,
  )
  return {
    item: '7',
    what: 'Total CPU per event with 4 gateways and 4 workers, against 1 and 1, in percent',
    measured: `${number(median(deviations), 1)} (${number(Math.min(...deviations), 1)} to ${number(Math.max(...deviations), 1)})`,
    limit: `± ${toleranceShare * 100}`,
    met: Math.abs(median(deviations)) <= toleranceShare * 100,
  }
}
