import { plural } from '@intake/runtime'
import { badWords } from '../bad-events.ts'
import { chart, legendKey, type Point, type Series } from '../charts.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, wholeNumber } from '../numbers.ts'
import type { Summary } from '../overview.ts'
import { periods, startsOf, type PeriodName } from '../period.ts'
import { versionsMax, type NameCount, type TopEvent } from '../read-counts.ts'
import type { Crash, VersionSessions, WeekDevices } from '../read-usage.ts'
import { stepAt } from '../search.ts'
import type { Header, KeyBudget } from '../worker-state.ts'
import { document } from './document.ts'
import { findingList } from './findings.ts'
import { applicationPath, listLink, listPath } from './links.ts'
import { warnings, card, choice, mute, periodLinks, segments, tile } from './parts.ts'
import type { SignPicture } from './pictures.ts'
import { countTile, eventBars, latestFeedback } from './summary.ts'
import { crashCard, crashFreeOf, versionCard, weekCard } from './usage.ts'

export interface ApplicationData extends Summary {
  versionSteps: readonly { at: number; version: string; events: number }[]
  errors: readonly TopEvent[]
  versions: readonly NameCount[]
  /** Undefined if counting them would read too much; the same for `weeks`. */
  sessions: readonly VersionSessions[] | undefined
  weeks: readonly WeekDevices[] | undefined
  crashes: readonly Crash[] | undefined
  isPartial: boolean
}

export function applicationTabs(application: string, current: 'Overview' | 'Catalogue'): Html {
  const links = [
    ['Overview', ''],
    ['Catalogue', '?tab=catalogue'],
  ].map(([name = '', query]) =>
    choice(applicationPath(application, query), name, name === current, 'page'),
  )
  return segments('Views of the application', links)
}

export function applicationView(options: {
  header: Header
  application: string
  period: PeriodName
  data: ApplicationData
  sign: SignPicture
  budgets: readonly KeyBudget[]
}): Html {
  const { header, application, period, data } = options
  const errors = data.errors[0]?.total ?? 0
  return document({
    header,
    view: 'overview',
    title: 'Application',
    heading: clientText(application, 300),
    alert: warnings(header, data.isPartial),
    tools: periodLinks(period, applicationPath(application), { names: ['24h', '7d', '30d'] }),
    body: html`${applicationTabs(application, 'Overview')}${findingList(options)}
      <div class="grid g4">
        ${countTile(options, 'events')} ${countTile(options, 'devices')}
        ${tile({
          title: 'Crash-free sessions',
          value: crashFreeOf(data.sessions ?? []) ?? '–',
          note: html`last ${periods[period].name}; ${wholeNumber(errors)}
          ${plural(errors, 'crash or error', 'crashes and errors')}`,
        })}
        ${countTile(options, 'feedback')}
      </div>
      ${latestFeedback(options)}
      ${card(
        html`Events by version <small class="hide">by the time they happened</small>`,
        versionChart(application, data, header),
      )}
      ${crashCard(application, data.crashes, { fromMs: data.steps.from, nowMs: header.nowMs })}
      <div class="grid">
        ${card(
          html`Top events ${listLink('logs', { application }, 'all events')}`,
          eventBars(data.topEvents, { application, period }),
        )}
        ${card(
          'Crashes and errors',
          html`${eventBars(data.errors, { application, period }, 'dead')}
          ${mute(`Names that end in ${badWords.join(', ')}.`)}`,
        )}
        ${versionCard({ application, period, ...data })} ${weekCard(data.weeks, header.nowMs)}
      </div>`,
  })
}

const named = ['v1', 'v2', 'v3'] as const

function versionChart(application: string, data: ApplicationData, header: Header): Html {
  const { steps, versionSteps } = data
  const versions = [...new Set(versionSteps.map(({ version }) => version))]
  const seriesOf = (version: string): Series => named[versions.indexOf(version)] ?? 'v4'
  const columns = versions
    .slice(0, named.length + 1)
    .map((version, index): [Series, Html] => [
      seriesOf(version),
      index < named.length ? clientText(version || 'no version', 60) : html`others`,
    ])
  const points: Point[] = startsOf(steps).map((t) => ({ t }))
  const byTime = new Map(points.map((point) => [point.t, point]))
  for (const { at, version, events } of versionSteps) {
    const [point, series] = [byTime.get(at), seriesOf(version)]
    if (point !== undefined) point[series] = (point[series] ?? 0) + events
  }
  return html`${chart({
    points,
    stepMs: steps.stepMs,
    columns,
    label: `${wholeNumber(sumOf(versionSteps, ({ events }) => events))} events by version.`,
    legend: html`<p class="legend">${columns.map(([series, name]) => legendKey(series, name))}</p>`,
    href: (from) => listPath('logs', { application, ...stepAt(from, steps) }),
    completeUntilMs: header.freshness.logs.visibleUntilMs,
  })}${mute(versions.length >= versionsMax && `The ${versionsMax} versions with most events.`)}`
}
