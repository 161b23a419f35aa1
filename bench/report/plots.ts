import type { Costs } from '../capacity-ratios.ts'
import type { ResidentSample } from '../resident.ts'
import type { RowsSample } from '../rows-over-time.ts'
import { median } from '../statistics.ts'
import { number } from './format.ts'
import {
  colours,
  legend,
  line,
  niceCeiling,
  polyline,
  rectangle,
  svgDocument,
  text,
} from './svg.ts'

const width = 680
const left = 90
const right = 75

const shownParts = ['gateway', 'redis', 'worker', 'clickhouse'] as const

/**
 * One bar per variant, split by process. A bar longer than five times the median is cut to the longest
 * other one and marked.
 */
export function cpuBars(costs: Costs): string {
  const rows = [...costs].map(([name, cost]) => ({
    name,
    values: shownParts.map((part) => cost[part]),
    total: shownParts.reduce((sum, part) => sum + cost[part], 0),
  }))
  const longest = 5 * median(rows.map(({ total }) => total))
  const largest = Math.max(...rows.map(({ total }) => total).filter((total) => total <= longest))
  const scale = (width - left - right) / largest
  const bars = rows.flatMap(({ name, values, total }, index) => {
    const y = 52 + index * 28
    const cut = total > largest
    let x = left
    const segments = values.map((value, part) => {
      const length = value * (cut ? scale * (largest / total) : scale)
      const segment = rectangle({
        x,
        y,
        width: length,
        height: 18,
        colour: colours[part] as string,
      })
      x += length
      return segment
    })
    return [
      text({ x: left - 8, y: y + 13, content: name, anchor: 'end' }),
      ...segments,
      text({ x: x + 6, y: y + 13, content: `${cut ? '… ' : ''}${number(total)}` }),
    ]
  })
  return svgDocument({
    width,
    height: 62 + rows.length * 28,
    title: 'CPU per event in microseconds',
    body: [...legend(['gateway', 'Redis', 'worker', 'ClickHouse'], { x: left, y: 40 }), ...bars],
  })
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

/** Two bars per percentile and load. */
export function latencyBars(levels: LatencyLevel[]): string {
  const groups = levels.flatMap(({ label, intake, bare }) =>
    (['p50', 'p99', 'p999'] as const).map((point) => ({
      label: `${label}, ${point.replace('p999', 'p99.9')}`,
      values: [intake[point], bare[point]],
    })),
  )
  const largest = Math.max(...groups.flatMap(({ values }) => values))
  const scale = (width - left - right) / largest
  const body = groups.flatMap(({ label, values }, group) => {
    const y = 52 + group * 32
    return [
      text({ x: left - 8, y: y + 15, content: label, anchor: 'end' }),
      ...values.flatMap((value, index) => [
        rectangle({
          x: left,
          y: y + index * 12,
          width: value * scale,
          height: 10,
          colour: colours[index] as string,
        }),
        text({ x: left + value * scale + 6, y: y + 9 + index * 12, content: number(value, 1) }),
      ]),
    ]
  })
  return svgDocument({
    width,
    height: 62 + groups.length * 32,
    title: 'Acknowledgement latency in milliseconds, by load (open loop)',
    body: [...legend(['intake', 'bare'], { x: left, y: 40 }), ...body],
  })
}

export function drainLine(samples: RowsSample[]): string {
  const begin = samples[0]?.at ?? 0
  return lineChart({
    title: 'Rows in ClickHouse from its first row after the outage',
    unit: 's',
    points: samples.map(({ at, rows }) => ({ x: (at - begin) / 1_000, y: rows })),
  })
}

export function memoryLine(samples: ResidentSample[]): string {
  return lineChart({
    title: 'Resident memory of the gateway in MiB',
    unit: 's',
    points: samples.map(({ seconds, mebibytes }) => ({ x: seconds, y: mebibytes })),
  })
}

/** One line; both axes start at 0. */
function lineChart(options: {
  title: string
  /** Of the horizontal axis. */
  unit: string
  points: { x: number; y: number }[]
}): string {
  const { title, unit, points } = options
  const top = 40
  const bottom = 240
  const xMax = Math.max(...points.map(({ x }) => x), 1e-9)
  const yMax = niceCeiling(Math.max(...points.map(({ y }) => y)))
  const place = ({ x, y }: { x: number; y: number }) => ({
    x: left + (x / xMax) * (width - left - right),
    y: bottom - (y / yMax) * (bottom - top),
  })
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const { y } = place({ x: 0, y: share * yMax })
    return [
      line({ from: { x: left, y }, to: { x: width - right, y } }),
      text({ x: left - 8, y: y + 4, content: number(share * yMax), anchor: 'end' }),
    ]
  })
  const axis = [0, 0.5, 1].map((share) =>
    text({
      x: left + share * (width - left - right),
      y: bottom + 18,
      content: `${number(share * xMax, xMax < 10 ? 1 : 0)} ${unit}`,
      anchor: 'middle',
    }),
  )
  return svgDocument({
    width,
    height: bottom + 30,
    title,
    body: [...grid, ...axis, polyline(points.map(place), colours[0])],
  })
}
