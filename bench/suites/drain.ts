import { bufferBehindFrozenWorkers, drain as drainBacklog, type Drain } from '../backlog.ts'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { watchDrain, type Estimate } from '../drain-estimates.ts'
import { freeze, thaw } from '../freeze.ts'
import { number, range, ratioRange } from '../report/format.ts'
import type { Variant } from '../variants.ts'
import type { SuiteResult } from './suite.ts'

const workerCounts = [1, 2, 3] as const
const entries = 100
const requests = { kind: 'batch', size: defaultBodySize, entries, gzip: false } as const
const turnsMax = 2

interface Drained extends Drain {
  workers: number
  events: number
  memoryPerEvent: number
  /** The estimate when half of the rows were left, divided by the time until they were stored. */
  estimateAtHalf: number
  estimates: Estimate[]
}

/** Measures how much faster more workers drain a backlog, and how exact a worker's estimate is. */
export async function drain(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const events = options.quick ? 100_000 : 600_000
  const turns = Math.min(turnsMax, options.rounds)
  const intake = await bench.start('intake', { workers: Math.max(...workerCounts) })
  const measured = await bench.rounds.measure(
    { items: workerCounts, turns, repetitions: 0 },
    async (workers) => {
      const drained = await drainWith(bench, intake, { workers, events })
      bench.say(
        `drain: ${workers} workers: ${number(drained.rowsPerSecond)} rows/s, estimate at half: ` +
          `${number(drained.estimateAtHalf, 2)} of the true time`,
      )
      return drained
    },
  )
  await intake.stop()
  return {
    name: 'drain',
    title: 'Workers and a backlog',
    method: `${number(events)} events of ${defaultBodySize} B in batches of ${entries} arrive while all workers are
frozen; then one, two or three of them drain the queue, in turns (ABBA). \`/scaling\` of the first worker is
read each second and compared with the time that it then takes until the last row is visible.`,
    tables: [ratesTable(measured), estimatesTable(measured)],
    checks: [],
    plots: [],
    // The counts of rows over time are left out, because they are many.
  }
}

async function drainWith(
  bench: Bench,
  intake: Variant,
  { workers, events }: { workers: number; events: number },
): Promise<Drained & { cpuPerEvent: { load: number } }> {
  const options = { events: events / entries, requests }
  const buffered = await bufferBehindFrozenWorkers(bench, intake, options)
  const working = intake.workers.slice(0, workers)
  const spare = intake.workers.slice(workers)
  freeze(spare)
  try {
    const watch = watchDrain(working[0]!.adminUrl(), bench.owner.signal)
    const drained = await drainBacklog(bench, { ...intake, workers: working }, buffered.load)
    const endedAt = drained.samples.at(-1)!.at
    const estimates = await watch.stop(endedAt)
    return {
      ...drained,
      workers,
      events: buffered.load.acknowledged.count,
      memoryPerEvent: buffered.memoryPerEvent,
      estimates,
      estimateAtHalf: atHalf(estimates, events),
      cpuPerEvent: { load: buffered.loadCpuPerEvent },
    }
  } finally {
    thaw(spare)
  }
}

/** The ratio of estimated and true time at the half of a drain; NaN if the drain was too short. */
function atHalf(estimates: readonly Estimate[], events: number): number {
  const half = estimates.find(({ rows }) => rows <= events / 2)
  return half === undefined ? NaN : half.saidSeconds / half.trueSeconds
}

const roundsOf = (measured: readonly Drained[], workers: number) =>
  measured.filter((one) => one.workers === workers)

function ratesTable(measured: readonly Drained[]) {
  return {
    title: 'Rows per second, and microseconds of CPU per row',
    head: ['workers', 'rows/s', 'worker', 'Redis', 'ClickHouse', 'ClickHouse, % of all processors'],
    rows: workerCounts.map((workers) => {
      const rounds = roundsOf(measured, workers)
      const of = (pick: (drained: Drained) => number, digits: number) =>
        range(rounds.map(pick), digits)
      return [
        workers,
        of(({ rowsPerSecond }) => rowsPerSecond, 0),
        of(({ cpu }) => cpu.worker, 1),
        of(({ cpu }) => cpu.redis, 1),
        of(({ cpu }) => cpu.clickhouse, 1),
        of(({ machineShare }) => machineShare.clickhouse * 100, 0),
      ]
    }),
    note: `Median, in brackets the smallest and largest of the rounds. Each waiting event took
${range(
  measured.map(({ memoryPerEvent }) => memoryPerEvent),
  0,
)} B of Redis. Other programs used ${range(
      measured.map(({ foreignShare }) => foreignShare * 100),
      0,
    )} % of the processors.`,
  }
}

function estimatesTable(measured: readonly Drained[]) {
  return {
    title: '`drain_seconds` divided by the time that it then took',
    head: ['workers', 'at half of the rows', 'estimates', 'within a factor of 2'],
    rows: workerCounts.map((workers) => {
      const rounds = roundsOf(measured, workers)
      const all = rounds.flatMap(({ estimates }) => estimates)
      const near = all.filter(({ saidSeconds, trueSeconds }) => {
        const ratio = saidSeconds / trueSeconds
        return ratio >= 0.5 && ratio <= 2
      })
      return [
        workers,
        ratioRange(
          rounds.map(({ estimateAtHalf }) => estimateAtHalf).filter((it) => !Number.isNaN(it)),
        ),
        all.length,
        `${number((near.length / all.length) * 100)} %`,
      ]
    }),
    note: `The queue is read every 5 s and the speed is that of the last 15 s, so a backlog of a few seconds is
gone before there is an estimate.`,
  }
}
