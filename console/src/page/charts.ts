import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale'
import { stack } from 'd3-shape'
import { dayMs } from '@intake/contract'
import { html, type Html } from './html.ts'
import { shortNumber } from './numbers.ts'
import { isShort } from './search.ts'
import { table } from './table.ts'
import { localTime } from './zone.ts'

/**
 * Charts are SVG: x in percent and y in pixels, so that one picture fits a phone and a desktop. They
 * contain numbers, times and fixed texts, but never a text from a client.
 */

/** What a column, bar or mark stands for: a colour or pattern of the style sheet. */
export type Series = 'events' | 'feedback' | 'refused' | 'dead' | 'v1' | 'v2' | 'v3' | 'v4'

/** `t` is the beginning of the step, in ms since 1970. */
export type Point = { t: number } & { [Name in Series]?: number }

interface Chart {
  points: readonly Point[]
  stepMs: number
  /**
   * From bottom to top, with the heading in the table, which the SVG does not show. A text from a
   * client must be given as `Html`, which is escaped.
   */
  columns: readonly (readonly [Series, name: string | Html])[]
  /** A sentence that screen readers read instead of the chart. */
  label: string
  legend?: Html | undefined
  href?: ((fromMs: number) => string) | undefined
  /** Steps that end after this time are pale, because their counts are not complete. */
  completeUntilMs?: number | undefined
}

const top = 8
const bottom = 108
const ticks = 3

const percentOf = (value: number) => `${Number(value.toFixed(2))}%`
const pixels = (value: number) => Number(value.toFixed(1))

export function chart(options: Chart): Html {
  const { points, stepMs, columns, label, legend, completeUntilMs = Infinity } = options
  if (points.length === 0) return html`<p class="mute">Not counted.</p>`
  // Links that are too long are left out: a chart has two for each step.
  const href = isShort(options.href?.(0) ?? '') ? options.href : undefined
  const steps = points.map(({ t }) => t)
  const x = scaleBand(steps, [0, 100]).paddingInner(0.22).paddingOuter(0.1)
  const begin = steps[0] ?? 0
  const end = (steps.at(-1) ?? 0) + stepMs
  const time = scaleUtc([begin, end], [0, 100])
  /** How far the reader's clock is ahead of UTC, which changes with summer time. */
  const aheadMs = (ms: number) => Date.parse(`${stepTime(ms, stepMs)}Z`) - ms
  const layers = stack<Point>()
    .keys(columns.map(([series]) => series))
    .value((point, series) => point[series as Series] ?? 0)([...points])
  const most = Math.max(1, ...(layers.at(-1) ?? []).map(([, sum]) => sum))
  const y = scaleLinear([0, most], [bottom, top]).nice(ticks)
  const grid = y.ticks(ticks).filter((value) => value > 0 && Number.isInteger(value))
  const bars = layers.map(
    (layer, index) =>
      html`<g class="s-${columns[index]?.[0]}"
        >${layer.map((part) => {
          const { t } = part.data
          const isPart = t + stepMs > completeUntilMs
          return column(x(t), x.bandwidth(), { from: y(part[0]), to: y(part[1]), bottom, isPart })
        })}</g
      >`,
  )
  // By the reader's clock, so that ticks are at its midnights and whole hours.
  const dates = scaleUtc([begin + aheadMs(end), end + aheadMs(end)], [0, 100]).ticks(7)
  const labels = dates.map((date, index) => {
    const ms = date.getTime() - aheadMs(date.getTime() - aheadMs(end))
    const at = time(ms)
    if (at < 2 || at > 97) return undefined
    const isSpare = dates.length > 6 && index % 2 === 0
    return html`<text
      class="${isSpare ? 'time alt' : 'time'}"
      x="${percentOf(at)}"
      y="${bottom + 16}"
      >${axisTime(new Date(ms + aheadMs(ms)), stepMs)}</text
    >`
  })
  // These links are only for the pointer. The keyboard skips them, because it would otherwise stop
  // at every column of the chart. With the keyboard, readers use the links of the table.
  const links =
    href &&
    html`<g class="hit"
      >${points.map(({ t }) => html`<a href="${href(t)}" tabindex="-1"><rect x="${percentOf((x(t) ?? 0) - x.step() * 0.11)}" width="${percentOf(x.step())}" /></a>`)}</g
    >`
  return html`<p class="vh">${label} The table below has every step.</p>
    <svg class="chart" aria-hidden="true" height="${bottom + 24}">
      ${grid.map((value) => html`<line x1="0" x2="100%" y1="${pixels(y(value))}" y2="${pixels(y(value))}" /><text class="tick" x="100%" dx="6" y="${pixels(y(value)) + 4}">${shortNumber(value)}</text>`)}
      <line x1="0" x2="100%" y1="${bottom}" y2="${bottom}" />
      ${bars}${labels}${links}</svg
    >${legend}${numbersTable({ ...options, href })}`
}

function axisTime(date: Date, stepMs: number): string {
  const clock = date.toISOString().slice(11, stepMs < 60_000 ? 19 : 16)
  if (!/^(?:00:00)?(?::00)?$/.test(clock)) return clock
  return `${date.getUTCDate()} ${date.toLocaleString('en', { month: 'short', timeZone: 'UTC' })}`
}

/** The beginning of a step in the reader's zone. Days are those of UTC, as they are counted. */
const stepTime = (ms: number, stepMs: number): string =>
  stepMs < dayMs ? localTime(ms) : new Date(ms).toISOString().slice(0, 23)

/** The table serves the keyboard and screen readers. */
function numbersTable({ points, columns, href, stepMs }: Chart): Html {
  const printed = (t: number) =>
    stepTime(t, stepMs).slice(0, stepMs >= dayMs ? 10 : stepMs < 60_000 ? 19 : 16)
  const whenOf = ({ t }: Point) =>
    href === undefined ? printed(t) : html`<a href="${href(t)}">${printed(t)}</a>`
  const numbers = columns.map(
    ([series, name]) => [name, (point: Point) => point[series] ?? 0, 'num'] as const,
  )
  const all = [[stepMs < dayMs ? 'Time' : 'Day, UTC', whenOf] as const, ...numbers]
  const numbersOf = table('Numbers of the chart', points.toReversed(), all, { isStacked: false })
  return html`<details class="numbers">
    <summary>As a table</summary>
    ${numbersOf}
  </details>`
}

/** Draws a column that is high enough to be seen; `from` is below `to`, in pixels from the top. */
function column(
  x: number | undefined,
  width: number,
  { from, to, bottom: end, isPart }: { from: number; to: number; bottom: number; isPart: boolean },
): Html | undefined {
  if (to >= from) return undefined
  return html`<rect
    x="${percentOf(x ?? 0)}"
    width="${percentOf(width)}"
    y="${pixels(Math.min(to, end - 1.5))}"
    height="${pixels(Math.max(1.5, from - to))}"
    ${isPart && html`class="part"`}
  />`
}

export function spark(
  values: readonly number[],
  { series = 'events', height = 28 }: { series?: Series; height?: number } = {},
): Html {
  const x = scaleBand(
    values.map((_, index) => index),
    [0, 100],
  ).paddingInner(0.25)
  const y = scaleLinear([0, Math.max(1, ...values)], [height, 1])
  const bars = values.map((value, index) => {
    const isPart = index === values.length - 1
    return column(x(index), x.bandwidth(), { from: height, to: y(value), bottom: height, isPart })
  })
  return html`<svg class="spark s-${series}" width="100%" height="${height}" aria-hidden="true">
    ${bars}
  </svg>`
}

export const barBehind = (share: number, series: Series): Html =>
  html`<svg class="fill s-${series}" width="100%" height="100%" aria-hidden="true">
    <rect width="${percentOf(Math.max(0.5, share * 100))}" height="100%" rx="3" />
  </svg>`

export const legendKey = (series: Series, name: string | Html): Html =>
  html`<span
    ><svg width="12" height="10" aria-hidden="true">
      <g class="s-${series}"><rect width="12" height="10" rx="2" /></g></svg
    >${name}</span
  >`
