import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale'
import { stack } from 'd3-shape'
import { dayMs } from '@intake/contract'
import { html, type Html } from './html.ts'
import { shortNumber, wholeNumber } from './numbers.ts'
import { isShort } from './search.ts'
import { localTime } from './zone.ts'

/**
 * This file draws charts as SVG. x is in percent and y in pixels, so one picture fits a phone and a
 * desktop, and text keeps its size. The SVG contains numbers, times and fixed texts, but never a
 * text from a client.
 */

/**
 * What a column, bar or mark stands for. The style sheet has a colour or pattern for each value.
 */
export type Series = 'events' | 'feedback' | 'refused' | 'dead' | 'v1' | 'v2' | 'v3' | 'v4'

/**
 * The numbers of one step of time, each under the `key` of its column. `t` is the beginning of the
 * step in ms since 1970.
 */
export type Point = { t: number } & Record<string, number>

interface Column {
  key: string
  series: Series
  /**
   * The heading in the table; the SVG does not show it. A text from a client must be given as
   * `Html`, which is escaped.
   */
  name: string | Html
}

/**
 * A small chart with its own vertical scale. All lanes share one time axis, which is below them.
 */
interface Lane {
  title?: string
  total?: number
  /** The columns of a step, stacked from bottom to top. */
  columns: readonly Column[]
  height: number
  ticks?: number
}

interface Lanes {
  points: readonly Point[]
  stepMs: number
  lanes: readonly Lane[]
  /** A description of the chart in words, for screen readers. */
  label: string
  legend?: Html
  /** Returns the link to the list of a step's records. */
  href?: ((fromMs: number) => string) | undefined
  /** Steps that end after this time are pale, because their counts are not complete. */
  completeUntilMs?: number | undefined
  /**
   * The beginning of the current step, in ms since 1970. This step is pale too, as it is not over.
   */
  unfinishedMs?: number | undefined
  /** The number of labels on the time axis, approximately. */
  ticks?: number
}

const percentOf = (value: number) => `${Number(value.toFixed(2))}%`
const pixels = (value: number) => Number(value.toFixed(1))
const sumOf = (point: Point, columns: readonly Column[]) =>
  columns.reduce((sum, { key }) => sum + (point[key] ?? 0), 0)

/** Draws columns over time in one or more lanes, followed by a table with the same numbers. */
export function lanes(options: Lanes): Html {
  const { points, stepMs, label, legend, ticks = 6 } = options
  // Links that are too long are left out: a chart has two for each step.
  const href = isShort(options.href?.(0) ?? '') ? options.href : undefined
  const { completeUntilMs = Infinity, unfinishedMs = Infinity } = options
  const x = scaleBand(
    points.map(({ t }) => t),
    [0, 100],
  )
    .paddingInner(0.22)
    .paddingOuter(0.1)
  const begin = points[0]?.t ?? 0
  const end = (points.at(-1)?.t ?? 0) + stepMs
  const time = scaleUtc([begin, end], [0, 100])
  let top = 0
  const drawn = options.lanes.map((lane) => {
    const y0 = top + (lane.title === undefined ? 8 : 22)
    const y1 = y0 + lane.height
    top = y1 + 10
    return drawLane({
      lane,
      points,
      x,
      y0,
      y1,
      isPale: (t) => t + stepMs > completeUntilMs || t >= unfinishedMs,
    })
  })
  const late =
    completeUntilMs < end
      ? html`<rect
          class="late"
          x="${percentOf(time(completeUntilMs))}"
          width="${percentOf(100 - time(completeUntilMs))}"
          y="4"
          height="${top - 14}"
        />`
      : undefined
  const all = time.ticks(ticks)
  const labels = all.map((date, index) => {
    const at = time(date)
    if (at < 2 || at > 97) return undefined
    const isSpare = all.length > 6 && index % 2 === 0
    return html`<line
        class="mark"
        x1="${percentOf(at)}"
        x2="${percentOf(at)}"
        y1="${top - 10}"
        y2="${top - 6}"
      /><text class="${isSpare ? 'time alt' : 'time'}" x="${percentOf(at)}" y="${top + 6}"
        >${axisTime(date, stepMs)}</text
      >`
  })
  // These links are only for the pointer. The keyboard skips them, because it would otherwise stop
  // at every column of the chart. With the keyboard, readers use the links of the table.
  const links =
    href === undefined
      ? undefined
      : html`<g class="hit"
          >${points.map(({ t }) => html`<a href="${href(t)}" tabindex="-1"><rect x="${percentOf((x(t) ?? 0) - x.step() * 0.11)}" width="${percentOf(x.step())}" /></a>`)}</g
        >`
  return html`<p class="vh">${label}</p>
    <svg class="chart axes" aria-hidden="true" height="${top + 14}">
      ${late}${drawn}${labels}${links}</svg
    >${legend}${numbersTable({ ...options, href })}`
}

function drawLane(options: {
  lane: Lane
  points: readonly Point[]
  x: { (t: number): number | undefined; bandwidth(): number }
  y0: number
  y1: number
  isPale: (t: number) => boolean
}): Html {
  const { lane, points, x, y0, y1, isPale } = options
  const { columns, ticks = 3 } = lane
  const most = Math.max(1, ...points.map((point) => sumOf(point, columns)))
  const y = scaleLinear([0, most], [y1, y0]).nice(ticks)
  const whole = y.ticks(ticks).filter((value) => value > 0 && Number.isInteger(value))
  const grid =
    whole.length > ticks ? whole.filter((_, i) => (whole.length - 1 - i) % 2 === 0) : whole
  const layers = stack<Point>().keys(columns.map(({ key }) => key))([...points])
  const title =
    lane.title === undefined
      ? undefined
      : html`<text class="lane" x="0" y="${y0 - 8}"
          >${lane.title}${lane.total === undefined ? undefined : html`<tspan dx="6">${wholeNumber(lane.total)}</tspan>`}</text
        >`
  const bars = layers.map(
    (layer, index) =>
      html`<g class="s-${columns[index]?.series}"
        >${layer.map((part) => {
          if (part[1] <= part[0]) return undefined
          const { t } = part.data
          const height = Math.max(1.5, y(part[0]) - y(part[1]))
          return html`<rect
            x="${percentOf(x(t) ?? 0)}"
            width="${percentOf(x.bandwidth())}"
            y="${pixels(Math.min(y(part[1]), y1 - 1.5))}"
            height="${pixels(height)}"
            ${isPale(t) ? html`class="part"` : undefined}
          />`
        })}</g
      >`,
  )
  return html`${title}${grid.map((value) => html`<line class="grid" x1="0" x2="100%" y1="${pixels(y(value))}" y2="${pixels(y(value))}" />`)}<line
      class="axis"
      x1="0"
      x2="100%"
      y1="${y1}"
      y2="${y1}"
    />${bars}${grid.map((value) => html`<text class="tick" x="100%" dx="6" y="${pixels(y(value)) + 4}">${shortNumber(value)}</text>`)}`
}

function axisTime(date: Date, stepMs: number): string {
  const text = stepTime(date.getTime(), stepMs)
  const clock = text.slice(11, stepMs < 60_000 ? 19 : 16)
  if (!/^(?:00:00)?(?::00)?$/.test(clock) && stepMs < dayMs) return clock
  const day = new Date(text.slice(0, 10))
  return `${day.getUTCDate()} ${day.toLocaleString('en', { month: 'short', timeZone: 'UTC' })}`
}

/** The beginning of a step in the reader's zone. Days are those of UTC, as they are counted. */
const stepTime = (ms: number, stepMs: number): string =>
  stepMs < dayMs ? localTime(ms) : new Date(ms).toISOString()

/** A table with the numbers and the links of a chart, for the keyboard and for screen readers. */
function numbersTable({ points, lanes: drawn, href, stepMs }: Lanes): Html {
  const columns = drawn.flatMap((lane) => lane.columns)
  const printed = (t: number) =>
    stepTime(t, stepMs).slice(0, stepMs >= dayMs ? 10 : stepMs < 60_000 ? 19 : 16)
  const rows = points.toReversed().map((point) => {
    const when = printed(point.t)
    return html`<tr>
      <td>${href === undefined ? when : html`<a href="${href(point.t)}">${when}</a>`}</td>
      ${columns.map(({ key }) => html`<td>${wholeNumber(point[key] ?? 0)}</td>`)}
    </tr>`
  })
  return html`<details class="numbers">
    <summary>As a table</summary>
    <div class="scroll" role="region" aria-label="Numbers of the chart" tabindex="0">
      <table>
        <thead>
          <tr>
            <th>Time</th>
            ${columns.map(({ name }) => html`<th>${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`
}

/** Draws a small row of columns without axes. */
export function spark(
  values: readonly number[],
  { series = 'events', height = 28 }: { series?: Series; height?: number } = {},
): Html {
  const x = scaleBand(
    values.map((_, index) => index),
    [0, 100],
  ).paddingInner(0.25)
  const y = scaleLinear([0, Math.max(1, ...values)], [0, height - 1])
  const bars = values.map((value, index) => {
    if (value <= 0) return undefined
    const tall = Math.max(1.5, y(value))
    return html`<rect
      x="${percentOf(x(index) ?? 0)}"
      width="${percentOf(x.bandwidth())}"
      y="${pixels(height - tall)}"
      height="${pixels(tall)}"
      ${index === values.length - 1 ? html` class="part"` : undefined}
    />`
  })
  return html`<svg class="spark s-${series}" width="100%" height="${height}" aria-hidden="true">
    ${bars}
  </svg>`
}

/** Draws the bar behind a row of a list. `share` is the length of the bar, from 0 to 1. */
export const barBehind = (share: number, series: Series): Html =>
  html`<svg class="fill s-${series}" width="100%" height="100%" aria-hidden="true">
    <rect width="${percentOf(Math.max(0.5, share * 100))}" height="100%" rx="3" />
  </svg>`

/** An entry of a legend: the colour or pattern of a series, and its name. */
export const legendKey = (series: Series, name: string | Html): Html =>
  html`<span
    ><svg width="12" height="10" aria-hidden="true">
      <g class="s-${series}"><rect width="12" height="10" rx="2" /></g></svg
    >${name}</span
  >`

/**
 * The SVG pattern that fills columns of refused records. Each HTML document must contain it once.
 */
export const patterns: Html = html`<svg class="defs" aria-hidden="true">
  <defs>
    <pattern
      id="hatch"
      width="5"
      height="5"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <rect class="hatch-ground" width="5" height="5" />
      <line class="hatch-line" x1="1" x2="1" y2="5" />
    </pattern>
  </defs>
</svg>`
