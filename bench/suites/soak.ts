import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { startGenerator } from '../load/generator.ts'
import type { LoadResult } from '../load/tally.ts'
import { requireNoFailure } from '../measure.ts'
import { number } from '../report/format.ts'
import { watchResident, type ResidentSample } from '../resident.ts'
import { median, slope } from '../statistics.ts'
import { untilRows } from '../until-rows.ts'
import { requireExact, visibleDigest } from '../visible.ts'
import type { Check, SuiteResult, Table } from './suite.ts'

const logsPerSecond = 1_000
const images = 4
const imageBytes = 10_000_000
const uploadPauseMs = 10_000
/** After this share of the run, buffers and compiled code have their final size. */
const settledShare = 0.2
const growthMax = 0.1

const method = `${logsPerSecond} logs per second (open loop), and every ten seconds a feedback
with ${images} images of ${imageBytes / 1e6} MB. The gateway's resident memory is read every second; its
slope is the least-squares line through all but the first ${settledShare * 100} % of the run.`

/** Measures whether the gateway's memory use is constant. */
export async function soak(bench: Bench): Promise<SuiteResult> {
  const { services, generator, options } = bench
  const intake = await bench.start('intake')
  const uploads = startGenerator(bench.owner)
  const { ports } = intake
  const seconds = options.soakMinutes * 60
  const { apiKey } = services
  bench.say(`soak: ${options.soakMinutes} minutes`)
  const load = () =>
    Promise.all([
      generator.run({
        loop: 'open',
        ports,
        rate: logsPerSecond,
        connections: 256,
        seconds,
        requests: { kind: 'log', size: defaultBodySize },
        apiKey,
      }),
      uploads.run({
        loop: 'closed',
        ports,
        connections: 1,
        pauseMs: uploadPauseMs,
        seconds,
        requests: { kind: 'feedback', images, imageBytes },
        apiKey,
      }),
    ])
  const watched = await watchResident({ pid: intake.gateways[0]?.pid ?? 0, everyMs: 1_000 }, load)
  const { samples } = watched
  const [logs, feedback] = watched.result
  await requireVisible(bench, 'intake.logs_raw', logs)
  await requireVisible(bench, 'intake.feedback_raw', feedback)
  await intake.stop()

  const settled = samples.filter((sample) => sample.seconds > seconds * settledShare)
  const perMinute = 60 * slope(settled.map((one) => ({ x: one.seconds, y: one.mebibytes })))
  return {
    name: 'soak',
    title: 'Soak',
    method,
    tables: [numbersTable({ logs, feedback, settled, perMinute })],
    checks: [check(settled, perMinute * options.soakMinutes)],
  }
}

async function requireVisible(bench: Bench, table: string, load: LoadResult): Promise<void> {
  requireNoFailure('soak', load)
  await untilRows(bench, table, load.acknowledged.count)
  requireExact('soak', load.acknowledged, await visibleDigest(bench.services.sql, table))
}

function numbersTable(of: {
  logs: LoadResult
  feedback: LoadResult
  settled: ResidentSample[]
  perMinute: number
}): Table {
  const memory = of.settled.map(({ mebibytes }) => mebibytes)
  return {
    title: 'Numbers',
    head: ['what', 'value'],
    rows: [
      ['logs', number(of.logs.acknowledged.count)],
      ['log ack p99, ms', number(of.logs.latencyMs.p99, 1)],
      [`feedback of ${images} × ${imageBytes / 1e6} MB`, number(of.feedback.acknowledged.count)],
      ['resident memory, smallest, MiB', number(Math.min(...memory))],
      ['resident memory, median, MiB', number(median(memory))],
      ['resident memory, largest, MiB', number(Math.max(...memory))],
      ['slope, MiB per minute', number(of.perMinute, 2)],
    ],
  }
}

/**
 * Checks that the gateway's memory hardly grows.
 *
 * @param growth slope × length of the run, in MiB
 */
function check(settled: ResidentSample[], growth: number): Check {
  const limit = growthMax * median(settled.map(({ mebibytes }) => mebibytes))
  return {
    item: '6',
    what: 'Gateway memory: slope over the whole soak',
    measured: `${growth >= 0 ? '+' : ''}${number(growth, 1)} MiB`,
    limit: `≤ +${number(limit, 1)} MiB (${growthMax * 100} % of the median)`,
    met: growth <= limit,
  }
}
