import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePorts } from '@intake/test-kit/free-ports'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound, type Round } from '../measure.ts'
import { startProcess } from '../process.ts'
import { number, range, ratioRange } from '../report/format.ts'
import type { SuiteResult, Table } from './suite.ts'

const sink = fileURLToPath(new URL('../otlp-sink.js', import.meta.url))
const shares = [0, 0.01, 1] as const

type Measured = Round & { share: number }

/** What traces cost the gateway and the worker: off, one request in a hundred, every request. */
export async function tracing(bench: Bench): Promise<SuiteResult> {
  const { options, owner, dataDir } = bench
  const [port] = (await freePorts(1)) as [number]
  await startProcess({
    name: 'otlp-sink',
    args: [sink],
    env: { PORT: String(port) },
    logFile: join(dataDir, 'otlp-sink.log'),
    owner,
  })
  const rounds = await bench.rounds.measure(
    { items: shares, turns: options.rounds },
    async (share) => {
      const round = await measure(bench, share, `http://127.0.0.1:${port}`)
      const { gateway, worker } = round.cpuPerEvent
      bench.say(`tracing: ${share}: gateway ${gateway.toFixed(1)}, worker ${worker.toFixed(1)} µs`)
      return round
    },
  )
  return {
    name: 'tracing',
    title: 'Traces',
    method: `Logs of ${defaultBodySize} B over 64 connections, one gateway and one worker, started anew for each round with
traces off, with one request in a hundred traced, and with every request; rounds interleaved (ABBA). The spans are sent to a
process that discards them and whose CPU is not counted.`,
    tables: [table(rounds)],
    checks: [],
    plots: [],
    raw: rounds,
  }
}

async function measure(bench: Bench, share: number, collector: string): Promise<Measured> {
  const env = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(share),
  }
  const variant = await bench.start('intake', share === 0 ? {} : { env })
  try {
    await measureRound(bench, variant, demand(bench.options.warmUpSeconds))
    return { ...(await measureRound(bench, variant, demand(bench.options.seconds))), share }
  } finally {
    await variant.stop()
  }
}

const demand = (seconds: number): Demand => ({
  loop: 'closed',
  connections: 64,
  seconds,
  requests: { kind: 'log', size: defaultBodySize },
})

function table(rounds: readonly Measured[]): Table {
  const of = (share: number, pick: (round: Measured) => number) =>
    rounds.filter((round) => round.share === share).map(pick)
  const parts = ['gateway', 'worker'] as const
  return {
    title: 'Microseconds of CPU per event',
    head: ['requests traced', 'accepted/s', ...parts.flatMap((part) => [part, '÷ off'])],
    rows: shares.map((share) => [
      `${number(share * 100)} %`,
      range(
        of(share, (round) => round.acceptedPerSecond),
        0,
      ),
      ...parts.flatMap((part) => {
        const costs = of(share, (round) => round.cpuPerEvent[part])
        const off = of(0, (round) => round.cpuPerEvent[part])
        return [
          range(costs, 1),
          ratioRange(costs.map((cost, turn) => cost / (off[turn] as number))),
        ]
      }),
    ]),
    note: 'Median, in brackets the smallest and largest of the rounds; ratios within each turn.',
  }
}
