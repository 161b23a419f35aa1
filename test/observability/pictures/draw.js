/*
 * Runs in the browser: draws `dashboard` (see page.ts) with uPlot, the library of Grafana's own
 * panels.
 */
/* global dashboard, document, uPlot */

const colors = [
  '#3274d9',
  '#e0752d',
  '#37872d',
  '#c4162a',
  '#8f3bb8',
  '#b0820b',
  '#19848f',
  '#705da0',
]
const paddingPx = 16
const titlePx = 34

const scaled = (value, steps) => {
  const [factor, suffix] = steps.findLast(([from]) => Math.abs(value) >= from) ?? steps[0]
  return `${Number((value / factor).toPrecision(3))}${suffix}`
}
const thousands = [
  [1, ''],
  [1e3, ' K'],
  [1e6, ' M'],
]
const formats = {
  s: (value) =>
    value < 1
      ? `${Number((value * 1e3).toPrecision(3))} ms`
      : scaled(value, [
          [1, ' s'],
          [60, ' min'],
          [3600, ' h'],
        ]),
  bytes: (value) =>
    scaled(value, [
      [1, ' B'],
      [1024, ' KiB'],
      [1024 ** 2, ' MiB'],
      [1024 ** 3, ' GiB'],
    ]),
  short: (value) => scaled(value, thousands),
  none: (value) => String(Number(value.toPrecision(3))),
  cps: (value) => `${scaled(value, thousands)}/s`,
  reqps: (value) => `${scaled(value, thousands)}/s`,
}

const clock = uPlot.fmtDate('{HH}:{mm}:{ss}')
const powersOfTwo = Array.from({ length: 50 }, (_, index) => 2 ** index)

function element(name, parent, text = '') {
  const created = document.createElement(name)
  created.textContent = text
  parent.append(created)
  return created
}

function drawStat(panel, section) {
  const stats = element('div', section)
  stats.className = 'stats'
  // Shows the last value like Grafana's `lastNotNull`, except that a series that has ended is not
  // shown.
  const present = panel.series.filter(({ values }) => values.at(-1) !== null)
  if (present.length === 0) element('span', stats, panel.noValue).className = 'green'
  for (const { label, values } of present) {
    const value = values.at(-1)
    const step = panel.steps.findLast((one) => one.value === null || value >= one.value)
    const isName = panel.textMode === 'name'
    const shown = element('span', stats, isName ? label : formats[panel.unit](value))
    shown.className = step.color
    if (panel.textMode === 'value_and_name') element('small', shown, label)
  }
}

function drawSeries(panel, section) {
  if (panel.series.length === 0) {
    element('div', section, 'No data').className = 'empty'
    return
  }
  const format = formats[panel.unit]
  const size = {
    width: section.clientWidth - paddingPx,
    height: section.clientHeight - titlePx,
  }
  const stroke = (index) => colors[index % colors.length]
  const plot = new uPlot(
    {
      ...size,
      cursor: { show: false },
      legend: { live: false },
      scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] } },
      axes: [
        { values: (_, ticks) => ticks.map((tick) => clock(new Date(tick * 1000))) },
        {
          size: 68,
          values: (_, ticks) => ticks.map((tick) => format(tick)),
          ...(panel.unit === 'bytes' && { incrs: powersOfTwo }),
        },
      ],
      series: [
        { label: '' },
        ...panel.series.map(({ label }, index) => ({
          label,
          stroke: stroke(index),
          fill: `${stroke(index)}18`,
          width: 1.5,
          points: { show: false },
        })),
      ],
    },
    [panel.times, ...panel.series.map(({ values }) => values)],
  )
  plot.root.style.width = '100%' // else its width is that of the canvas, which is drawn later
  section.append(plot.root)
  const legend = plot.root.querySelector('.u-legend')
  plot.setSize({ ...size, height: size.height - legend.offsetHeight })
}

element('h1', document.body, dashboard.title)
const main = element('main', document.body)
for (const panel of dashboard.panels) {
  const { x, y, w, h } = panel.gridPos
  const section = element('section', main)
  section.style.gridArea = `${y + 1} / ${x + 1} / span ${h} / span ${w}`
  element('h2', section, panel.title)
  if (panel.type === 'stat') drawStat(panel, section)
  else drawSeries(panel, section)
}
