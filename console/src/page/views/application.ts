import { plural } from '@intake/runtime'
import { badWords } from '../bad-events.ts'
import { lanes, legendKey, type Point, type Series } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { Findings } from '../findings.ts'
import { percent, wholeNumber } from '../numbers.ts'
import type { Totals } from '../overview.ts'
import { periods, startsOf, type PeriodName, type Steps } from '../period.ts'
import type { Crash } from '../read-crashes.ts'
import { versionsMax, type NameCount, type TopEvent } from '../read-counts.ts'
import type { VersionSessions, WeekDevices } from '../read-usage.ts'
import type { FeedbackSummary } from '../records.ts'
import type { Header, KeyBudget } from '../worker-state.ts'
import { applicationTabs } from './catalogue.ts'
import { crashCard } from './crashes.ts'
import { document } from './document.ts'
import { findingList } from './findings.ts'
import { latestFeedback } from './feedback-items.ts'
import { applicationPath, listPath, byName } from './links.ts'
import { sumOf } from './outcomes.ts'
import { bars, behindAlert, card, compared, partialAlert, periodLinks, tile } from './parts.ts'
import type { SignPicture } from './pictures.ts'
import { crashFreeOf, versionCard, weekCard } from './usage.ts'

export interface ApplicationData {
  steps: Steps
  now: Totals
  /** The same numbers of the period before. */
  before: Totals
  findings: Findings
  versionSteps: readonly { at: number; version: string; events: number }[]
  topEvents: readonly TopEvent[]
  /** The most frequent events whose names say that something went wrong. */
  errors: readonly TopEvent[]
  /** The number of devices of each version. */
  versions: readonly NameCount[]
  /** Undefined if counting them would read too much; the same for `weeks`. */
  sessions: readonly VersionSessions[] | undefined
  weeks: readonly WeekDevices[] | undefined
  feedback: readonly FeedbackSummary[]
  crashes: readonly Crash[]
  countedAtMs: number | undefined
  /** Whether ClickHouse could not read some parts, which are then empty or zero. */
  isPartial: boolean
}

const series: readonly Series[] = ['v1', 'v2', 'v3', 'v4']

export function applicationView(options: {
  header: Header
  application: string
  period: PeriodName
  data: ApplicationData
  sign: SignPicture
  budgets: readonly KeyBudget[]
}): Html {
  const { header, application, period, data, sign, budgets } = options
  const { now, before, findings, countedAtMs } = data
  const errors = data.errors[0]?.total ?? 0
  const last = html` last ${periods[period].name}`
  const eventBars = (rows: readonly NameCount[], total: number) =>
    bars(
      rows.map(({ name, count }) => ({
        name: name || 'others',
        count,
        note: percent(count / Math.max(1, total)),
        href: listPath('logs', { application, ...byName('event', name), period }),
      })),
      rows === data.errors ? 'dead' : 'events',
    )
  return document({
    header,
    view: 'overview',
    title: 'Application',
    heading: clientText(application, 300),
    alert: html`${behindAlert(header)}${data.isPartial ? partialAlert : undefined}`,
    tools: periodLinks(period, applicationPath(application), { names: ['24h', '7d', '30d'] }),
    body: html`${applicationTabs(application, 'overview')}${findingList({ header, findings, budgets, countedAtMs })}
      <div class="grid g4">
        ${tile({ title: 'Events', value: wholeNumber(now.events), note: html`${compared(now.events, before.events)}${last}${countedAtMs === undefined ? ', counted within a minute' : undefined}` })}
        ${tile({ title: 'Active devices', value: wholeNumber(now.devices), note: html`${compared(now.devices, before.devices)}${last}` })}
        ${tile({
          title: 'Crash-free sessions',
          value: crashFreeOf(data.sessions ?? []) ?? '–',
          note: html`${last}; ${wholeNumber(errors)}
          ${plural(errors, 'crash or error', 'crashes and errors')}`,
        })}
        ${tile({ title: 'Feedback', value: wholeNumber(now.feedback), note: html`${compared(now.feedback, before.feedback)}<a href="${listPath('feedback', { application, period })}">${last}</a>` })}
      </div>
      ${latestFeedback({ header, rows: data.feedback, sign }, application)}
      ${card(html`Events by version <small class="hide">by the time they happened</small>`, versionChart(application, data, header), 'card wide')}
      ${crashCard(application, data.crashes, { fromMs: data.steps.from, nowMs: header.nowMs })}
      <div class="grid g2">
        ${card(html`Top events <a href="${listPath('logs', { application })}">all events</a>`, eventBars(data.topEvents, now.events))}
        ${card(
          'Crashes and errors',
          html`${eventBars(data.errors, errors)}
            <p class="mute">Names that end in ${badWords.join(', ')}.</p>`,
        )}
        ${versionCard({ application, period, ...data })} ${weekCard(data.weeks, header.nowMs)}
      </div>`,
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
  const hasOthers = versions.length > named.length
  const used = columns.filter(
    (_, index) => index < named.length || (hasOthers && index === series.length - 1),
  )
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
