import type { Bench } from '../bench.ts'
import { bodySizes, defaultBodySize } from '../corpus.ts'
import type { RequestKind } from '../load/requests.ts'
import { measureRound, type Round } from '../measure.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import { costHead, costs } from './costs.ts'
import type { SuiteResult, Table } from './suite.ts'

interface Shape {
  label: string
  requests: RequestKind
}

const batchConnections = 16
const bodyConnections = 64
const size = defaultBodySize

const batches: Shape[] = [
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
]
const bodies: Shape[] = bodySizes.map((bytes) => ({
  label: `${bytes} B`,
  requests: { kind: 'log', size: bytes },
}))

const method = `Closed loop. \`POST /api/log/batch\` with one device context against single logs, over ${batchConnections} connections; single logs
by size over ${bodyConnections}.`

/** Measures what an event costs by the number of events in a request, and by its size. */
export async function shapes(bench: Bench): Promise<SuiteResult> {
  const variant = await bench.start('intake')
  const measure = (connections: number, seconds: number) => async (shape: Shape) => {
    const { requests } = shape
    const round = await measureRound(bench, variant, {
      loop: 'closed',
      connections,
      seconds,
      requests,
    })
    bench.say(`shapes: ${shape.label}: ${Math.round(round.acceptedPerSecond)} events/s`)
    return { shape, round }
  }
  const seconds = Math.min(1.5, bench.options.seconds)
  await measureEach(batches, measure(batchConnections, 1))
  const order = abbaOrder(batches, Math.min(2, bench.options.rounds))
  const byBatch = await measureEach(order, measure(batchConnections, seconds))
  const byBody = await measureEach(bodies, measure(bodyConnections, seconds))
  await variant.stop()
  return {
    name: 'shapes',
    title: 'Batches, and larger events',
    method,
    tables: [
      table({ title: 'Events per second', first: 'events', all: batches, measured: byBatch }),
      table({ title: 'By body', first: 'body', all: bodies, measured: byBody }),
    ],
    checks: [],
  }
}

function table(options: {
  title: string
  first: string
  all: Shape[]
  measured: { shape: Shape; round: Round }[]
}): Table {
  return {
    title: `${options.title}, and microseconds of CPU per event`,
    head: [options.first, ...costHead],
    rows: options.all.map((shape) => [
      shape.label,
      ...costs(options.measured.filter((one) => one.shape === shape).map(({ round }) => round)),
    ]),
  }
}
