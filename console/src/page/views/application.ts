import { lanes, legendKey, type Point, type Series } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { percent, shortNumber, wholeNumber } from '../numbers.ts'
import { periods, startsOf, type PeriodName, type Steps } from '../period.ts'
import { versionsMax, type NameCount, type TopEvent } from '../read-counts.ts'
import type { FeedbackSummary } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { applicationTabs } from './catalogue.ts'
import { clockTime, document } from './document.ts'
import { feedbackItems } from './feedback-items.ts'
import { applicationPath, listPath, byName } from './links.ts'
import { sumOf } from './outcomes.ts'
import { bars, behindAlert, card, periodLinks, tile } from './parts.ts'
import type { SignPicture } from './pictures.ts'

export interface ApplicationData {
  steps: Steps
  versionSteps: readonly { at: number; version: string; events: number }[]
  topEvents: readonly TopEvent[]
  badEvents: number
  /** The number of devices of each version. */
  versions: readonly NameCount[]
  devices: number
  feedback: readonly FeedbackSummary[]
  feedbackCount: number
  countedAtMs: number | undefined
}

const series: readonly Series[] = ['v1', 'v2', 'v3', 'v4']

export function applicationView(options: {
  header: Header
  application: string
  period: PeriodName
  data: ApplicationData
  sign: SignPicture
}): Html {
  const { header, application, period, data, sign } = options
  const total = data.topEvents[0]?.total ?? 0
  const counted =
    data.countedAtMs === undefined ? 'not counted yet' : `counted at ${clockTime(data.countedAtMs)}`
  return document({
    header,
    title: 'Application',
    heading: clientText(application, 300),
    crumbs: html`<a href="/">Overview</a> · applications`,
    alert: behindAlert(header),
    tools: periodLinks(period, applicationPath(application), { names: ['24h', '7d', '30d'] }),
    body: html`${applicationTabs(application, 'overview')}
      <div class="grid g4">
        ${tile({ title: 'Events', value: shortNumber(total), note: html`last ${periods[period].name}, ${counted}` })}
        ${tile({ title: 'Active devices', value: wholeNumber(data.devices), note: html`last ${periods[period].name}` })}
        ${tile({
          title: 'Bad events',
          value: shortNumber(data.badEvents),
          note: html`last ${periods[period].name}, by their names`,
          state: data.badEvents > 0 ? 'bad' : undefined,
        })}
        ${tile({ title: 'Feedback', value: wholeNumber(data.feedbackCount), note: html`<a href="${listPath('feedback', { application, period })}">last ${periods[period].name}</a>` })}
      </div>
      ${card(html`Events by version <small class="hide">by the time they happened</small>`, versionChart(application, data, header), 'card wide')}
      <div class="grid g2">
        ${card(
          html`Top events <a href="${listPath('logs', { application })}">all events</a>`,
          bars(
            data.topEvents.map(({ name, count }) => ({
              name,
              count,
              note: percent(count / Math.max(1, total)),
              href: listPath('logs', { application, ...byName('event', name), period }),
            })),
          ),
        )}
        ${card(
          html`Top versions <small>devices</small>`,
          bars(
            data.versions.map(({ name, count }) => ({
              name,
              count,
              note: percent(count / Math.max(1, data.devices)),
              href: listPath('logs', { application, ...byName('version', name), period }),
            })),
          ),
        )}
      </div>
      <section class="mini">
        <div class="title">
          <h2>Latest feedback</h2>
          <a href="${listPath('feedback', { application })}">all</a>
        </div>
        ${feedbackItems({ rows: data.feedback, sign, nowMs: header.nowMs, className: 'grid g3' })}
      </section>`,
  })
}

function versionChart(application: string, data: ApplicationData, header: Header): Html {
  const { steps, versionSteps } = data
  const versions = [...new Set(versionSteps.map(({ version }) => version))]
  const named = versions.slice(0, series.length - 1)
  const columns = series.map((one, index) => ({
    key: one,
    series: one,
    name: index < named.length ? clientText(named[index] || 'no version', 60) : html`others`,
  }))
  const used = columns.filter((_, index) => index < named.length || index === series.length - 1)
  const keyOf = (version: string): Series => series[named.indexOf(version)] ?? 'v4'
  const points: Point[] = startsOf(steps).map((t) => ({ t, v1: 0, v2: 0, v3: 0, v4: 0 }))
  const byTime = new Map(points.map((point) => [point.t, point]))
  for (const { at, version, events } of versionSteps) {
    const point = byTime.get(at)
    if (point !== undefined) point[keyOf(version)] = (point[keyOf(version)] ?? 0) + events
  }
  const chart = lanes({
    points,
    stepMs: steps.stepMs,
    label: `${wholeNumber(sumOf(versionSteps, ({ events }) => events))} events by version. The table below has every step.`,
    legend: html`<p class="legend">
      ${used.map(({ series: one, name }) => legendKey(one, name))}
    </p>`,
    href: (from) =>
      listPath('logs', { application, from: new Date(from), to: new Date(from + steps.stepMs) }),
    completeUntilMs: header.freshness.logs.visibleUntilMs,
    ticks: 7,
    lanes: [{ columns: used, height: 130 }],
  })
  if (versions.length < versionsMax) return chart
  return html`${chart}
    <p class="mute">The ${versionsMax} versions with most events.</p>`
}
