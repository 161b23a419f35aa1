import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Dashboard, Panel } from '../dashboard-schema.ts'
import { withRateInterval } from '../files.ts'
import type { Prometheus, Range, Series } from '../prometheus.ts'

/** A panel with the results of its queries: what draw.js gets. */
interface FilledPanel {
  type: Panel['type']
  title: string
  unit: string
  gridPos: Panel['gridPos']
  noValue: string
  textMode: string
  steps: { color: string; value: number | null }[]
  /** In seconds since 1970. */
  times: number[]
  /** One value per time; null if there is none. */
  series: { label: string; values: (number | null)[] }[]
}

const require = createRequire(import.meta.url)
const read = (file: string | URL) => readFileSync(file, 'utf8')

/** The panels of a dashboard, filled by a Prometheus, as one HTML document that loads nothing. */
export async function dashboardPage(
  dashboard: Dashboard,
  { prometheus, range }: { prometheus: Prometheus; range: Range },
): Promise<string> {
  const panels: FilledPanel[] = []
  for (const panel of dashboard.panels) panels.push(await fill(panel, { prometheus, range }))
  const data = JSON.stringify({ title: dashboard.title, panels }).replaceAll('<', '\\u003c')
  return `<!doctype html>
<meta charset="utf-8">
<style>${read(require.resolve('uplot/dist/uPlot.min.css'))}</style>
<style>${read(new URL('page.css', import.meta.url))}</style>
<body>
<script>${read(require.resolve('uplot/dist/uPlot.iife.min.js'))}</script>
<script>const dashboard = ${data}</script>
<script>${read(new URL('draw.js', import.meta.url))}</script>
`
}

async function fill(
  panel: Panel,
  { prometheus, range }: { prometheus: Prometheus; range: Range },
): Promise<FilledPanel> {
  const { start, end, stepSeconds } = range
  const times = Array.from(
    { length: Math.floor((end - start) / stepSeconds) + 1 },
    (_, index) => start + index * stepSeconds,
  )
  const series = await Promise.all(
    panel.targets.map(async ({ expr, legendFormat }) =>
      (await prometheus.queryRange(withRateInterval(expr), range)).map((one) => ({
        label: labelOf(legendFormat, one),
        values: valuesAt(times, one),
      })),
    ),
  )
  const isStat = panel.type === 'stat'
  return {
    type: panel.type,
    title: panel.title,
    unit: panel.fieldConfig.defaults.unit,
    gridPos: panel.gridPos,
    noValue: isStat ? panel.fieldConfig.defaults.noValue : '',
    textMode: isStat ? panel.options.textMode : '',
    steps: isStat ? panel.fieldConfig.defaults.thresholds.steps : [],
    times,
    series: series.flat(),
  }
}

function labelOf(legendFormat: string, { metric }: Series): string {
  return legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => metric[name] ?? '')
}

/** Infinite values are not drawn, as in Grafana. */
function valuesAt(times: number[], { values }: Series): (number | null)[] {
  const byTime = new Map(values.map(([time, value]) => [Math.round(time), Number(value)]))
  return times.map((time) => {
    const value = byTime.get(Math.round(time))
    return value !== undefined && Number.isFinite(value) ? value : null
  })
}
