import type { Costs } from '../capacity-ratios.ts'
import type { ResidentSample } from '../resident.ts'
import type { RowsSample } from '../rows-over-time.ts'
import type { Plot } from '../suites/suite.ts'

const costParts = ['gateway', 'redis', 'worker', 'clickhouse'] as const
/** A line is drawn through this many points, at equal distances on the x axis. */
const linePoints = 40

/** A chart with one bar per variant. */
export function cpuBars(costs: Costs): Plot {
  const totals = [...costs.values()].map((cost) =>
    costParts.reduce((sum, part) => sum + cost[part], 0),
  )
  return chart('CPU of gateway, Redis, worker and ClickHouse', [
    `x-axis [${[...costs.keys()].map(quoted).join(', ')}]`,
    `y-axis "microseconds per event" 0 --> ${ceiling(totals)}`,
    `bar [${totals.map(rounded).join(', ')}]`,
  ])
}

export interface LatencyLevel {
  label: string
  intake: Latencies
  bare: Latencies
}
interface Latencies {
  p50: number
  p99: number
  p999: number
}

/**
 * A chart of latencies. The bars show the latencies of Intake, one per load and percentile. The
 * line connects the latencies of `bare`.
 */
export function latencyBars(levels: LatencyLevel[]): Plot {
  const groups = levels.flatMap(({ label, intake, bare }) =>
    (['p50', 'p99', 'p999'] as const).map((point) => ({
      label: `${label} ${point.replace('p999', 'p99.9')}`,
      intake: intake[point],
      bare: bare[point],
    })),
  )
  const largest = ceiling(groups.flatMap(({ intake, bare }) => [intake, bare]))
  return chart('Acknowledgement latency by load (bars: intake, line: bare)', [
    `x-axis [${groups.map(({ label }) => quoted(label)).join(', ')}]`,
    `y-axis "milliseconds" 0 --> ${largest}`,
    `bar [${groups.map(({ intake }) => rounded(intake)).join(', ')}]`,
    `line [${groups.map(({ bare }) => rounded(bare)).join(', ')}]`,
  ])
}

export function drainLine(samples: RowsSample[]): Plot {
  const begin = samples[0]?.at ?? 0
  const points = samples.map(({ at, rows }) => ({ x: (at - begin) / 1_000, y: rows }))
  return lineChart('Rows in ClickHouse after the outage, from its first row on', 'rows', points)
}

export function memoryLine(samples: ResidentSample[]): Plot {
  const points = samples.map(({ seconds, mebibytes }) => ({ x: seconds, y: mebibytes }))
  return lineChart('Resident memory of the gateway', 'MiB', points)
}

interface Point {
  x: number
  y: number
}

/**
 * A chart with one line.
 *
 * @param points in ascending order of `x`, in seconds
 */
function lineChart(title: string, unit: string, points: Point[]): Plot {
  const xMax = points.at(-1)?.x ?? 0
  const values = Array.from({ length: linePoints }, (_, index) =>
    valueAt(points, (index / (linePoints - 1)) * xMax),
  )
  return chart(title, [
    `x-axis "seconds" 0 --> ${rounded(xMax)}`,
    `y-axis "${unit}" 0 --> ${ceiling(values)}`,
    `line [${values.map(rounded).join(', ')}]`,
  ])
}

/** The value of the last point at or before `x`. */
function valueAt(points: Point[], x: number): number {
  return (points.findLast((point) => point.x <= x) ?? points[0])?.y ?? 0
}

function chart(title: string, lines: string[]): Plot {
  const head = ['xychart-beta', `title ${quoted(title)}`]
  return { title, mermaid: [...head, ...lines].join('\n  ') }
}

const ceiling = (values: number[]) => rounded(Math.max(...values) * 1.1)
const rounded = (value: number) => Number(value.toPrecision(4))
const quoted = (text: string) => `"${text}"`
