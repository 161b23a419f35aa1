import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { RequestKind } from '../load/requests.ts'
import { measureRound, type Round } from '../measure.ts'
import { range } from '../report/format.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import type { Variant } from '../variants.ts'
import type { SuiteResult } from './suite.ts'

const connections = 16
const size = defaultBodySize
const shapes = [
  { label: 'one per request', requests: { kind: 'log', size } },
  ...[
    { entries: 10, gzip: false },
    { entries: 100, gzip: false },
    { entries: 100, gzip: true },
    { entries: 500, gzip: false },
  ].map(({ entries, gzip }) => ({
    label: `${entries} per request${gzip ? ', gzip' : ''}`,
    requests: { kind: 'batch', size, entries, gzip } as const,
  })),
] satisfies { label: string; requests: RequestKind }[]
type Shape = (typeof shapes)[number]

const method = `Closed loop over ${connections} connections, \`POST /api/log/batch\` with one device context against single logs.`

export async function batch(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const variant = await bench.start('intake')
  for (const shape of shapes) await measure(bench, variant, { shape, seconds: 1 })
  const order = abbaOrder(shapes, Math.min(2, options.rounds))
  const rounds = await measureEach(order, async (shape) => {
    const seconds = Math.min(1.5, options.seconds)
    const round = await measure(bench, variant, { shape, seconds })
    bench.say(`batch: ${shape.label}: ${Math.round(round.acceptedPerSecond)} events/s`)
    return round
  })
  const measured = rounds.map((round, index) => ({ shape: order[index] as Shape, round }))
  await variant.stop()
  return {
    name: 'batch',
    title: 'Many events in one request',
    method,
    tables: [table(measured)],
    checks: [],
  }
}

function measure(
  bench: Bench,
  variant: Variant,
  { shape, seconds }: { shape: Shape; seconds: number },
): Promise<Round> {
  return measureRound(bench, variant, {
    loop: 'closed',
    connections,
    seconds,
    requests: shape.requests,
  })
}

function table(measured: { shape: Shape; round: Round }[]) {
  return {
    title: 'Events per second, and microseconds of CPU per event',
    head: ['events', 'accepted/s', 'delivered/s', 'gateway', 'Redis', 'worker', 'ClickHouse'],
    rows: shapes.map((shape) => {
      const rounds = measured.filter((one) => one.shape === shape).map(({ round }) => round)
      const of = (pick: (round: Round) => number, digits = 1) => range(rounds.map(pick), digits)
      return [
        shape.label,
        of((round) => round.acceptedPerSecond, 0),
        of((round) => round.deliveredPerSecond, 0),
        of((round) => round.cpuPerEvent.gateway),
        of((round) => round.cpuPerEvent.redis),
        of((round) => round.cpuPerEvent.worker),
        of((round) => round.cpuPerEvent.clickhouse),
      ]
    }),
  }
}
