import { plural } from '@intake/runtime'
import { spark } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { percent, shortDuration, wholeNumber } from '../numbers.ts'
import { isNew, type OverviewData } from '../overview.ts'
import { periods, type PeriodName } from '../period.ts'
import { applicationsMax, type ApplicationCounts } from '../read-counts.ts'
import { table } from '../table.ts'
import type { Header, KeyBudget } from '../worker-state.ts'
import { checklist } from './checklist.ts'
import { document } from './document.ts'
import { latestFeedback } from './feedback-items.ts'
import { findingList } from './findings.ts'
import { applicationPath, applicationTag, listPath, byName } from './links.ts'
import { arrivalChart, refusalList, sumOf } from './outcomes.ts'
import {
  ago,
  badge,
  bars,
  behindAlert,
  card,
  compared,
  countedNote,
  mute,
  partialAlert,
  periodLinks,
  problemAlert,
  tile,
} from './parts.ts'
import type { SignPicture } from './pictures.ts'

const hourMs = 3_600_000

interface OverviewOptions {
  header: Header
  data: OverviewData
  period: PeriodName
  sign: SignPicture
  /** The URLs of the gateways. */
  urls: readonly string[]
  budgets: readonly KeyBudget[]
  /** The title of the column by which the applications are sorted. */
  sort: string | undefined
}

export function overviewView(options: OverviewOptions): Html {
  const { header, data, period, sign, urls, budgets } = options
  const { arrivals, steps, refusals, names, topEvents, firstAtMs } = data
  const isFirst = isNew(data)
  const first = checklist({
    nowMs: header.nowMs,
    firstAtMs,
    isNew: isFirst,
    urls,
    keys: names.size,
  })
  const down = header.problems.filter(({ state }) => state === 'down')
  return document({
    header,
    view: 'overview',
    title: 'Overview',
    alert: html`${down.map(problemAlert)}${behindAlert(header)}${data.isPartial ? partialAlert : undefined}`,
    tools: isFirst ? undefined : periodLinks(period, '/'),
    body: isFirst
      ? first
      : html`${findingList({ header, data, budgets })}${first} ${tiles(options)}
          ${latestFeedback({ header, rows: data.feedback, sign })}
          ${card(
            html`Arrivals <small class="hide">when gateways accepted or refused it</small>`,
            arrivalChart(arrivals, steps),
          )}
          <div class="grid">
            ${card(
              html`Top events <a href="/events">all events</a>`,
              bars(
                topEvents,
                ({ name }) => listPath('logs', { ...byName('event', name), period }),
                { empty: 'others', noteOf: ({ count, total }) => percent(count / total) },
              ),
            )}
            ${card(
              html`Refused, and why <a href="/status#keys">keys</a>`,
              refusalList(refusals, names),
              'refused',
            )}
          </div>
          ${card(html`Applications <small>${countedNote(data)}</small>`, applicationTable(options))}`,
  })
}

function tiles({ data, period }: OverviewOptions): Html {
  const { arrivals, refusals, applications, now, before, refusedBefore } = data
  const leftOut = sumOf(arrivals, (point) => point.leftOut)
  const refused = sumOf(arrivals, (point) => point.refused)
  const all = sumOf(arrivals, (point) => point.events) + refused
  const reason = refusals[0]?.code
  const isCounted = data.isExact || data.countedAtMs !== undefined
  const valueOf = (value: number) => (isCounted ? wholeNumber(value) : '…')
  const versus = (value: number, earlier: number) =>
    html`${compared(value, earlier)} last ${periods[period].name}`
  const counted = (name: 'events' | 'devices') =>
    isCounted ? versus(now[name], before[name]) : html`${countedNote(data)}`
  const sparkOf = (series: 'feedback' | 'refused') =>
    spark(
      arrivals.map((point) => point[series]),
      { series },
    )
  return html`<div class="grid g4">
    ${tile({
      title: 'Events',
      value: valueOf(now.events),
      note: html`${counted('events')}${leftOut === 0 ? undefined : html`; ${wholeNumber(leftOut)} ${plural(leftOut, 'record')} left out`}`,
      chart: spark(arrivals.map((_, step) => sumOf(applications, (one) => one.series[step] ?? 0))),
    })}
    ${tile({
      title: 'Active devices',
      value: valueOf(now.devices),
      note: counted('devices'),
    })}
    ${tile({
      title: 'Feedback',
      value: wholeNumber(now.feedback),
      note: versus(now.feedback, before.feedback),
      chart: sparkOf('feedback'),
    })}
    ${tile({
      title: 'Refused',
      value: wholeNumber(refused),
      note: html`${versus(refused, refusedBefore)}${reason && html`; mostly <a href="#refused"><code>${clientText(reason, 60)}</code></a>`}`,
      chart: sparkOf('refused'),
      isWarning: refused > 0.01 * all,
    })}
  </div>`
}

function applicationTable({ header, data, period, sort }: OverviewOptions): Html {
  const { applications, isExact } = data
  const lastOf = ({ lastMs }: ApplicationCounts) => {
    const silentMs = header.nowMs - lastMs - (isExact ? 0 : hourMs)
    if (silentMs > 24 * hourMs)
      return badge(`silent for ${shortDuration(silentMs / 1_000)}`, 'warning')
    return silentMs < hourMs && !isExact ? 'this hour' : ago(lastMs, header.nowMs)
  }
  return html`${table(
    'Applications',
    applications,
    [
      [
        'Application',
        ({ bundle_identifier: id }) =>
          html`<a href="${applicationPath(id, `?period=${period}`)}">${applicationTag(id)}</a>`,
      ],
      [`Last ${periods[period].name}`, ({ series }) => spark(series, { height: 22 }), 'hide'],
      ['Events', ({ events }) => events, 'num'],
      ['Feedback', ({ feedback }) => feedback, 'num'],
      ['Devices', ({ devices }) => devices, 'num'],
      ['Newest version', ({ newest_version: version }) => clientText(version, 60)],
      ['Last event', lastOf, 'num'],
    ],
    { sort, sortedBy: (title) => `/?${new URLSearchParams({ period, sort: title }).toString()}` },
  )}${mute(
    applications.length >= applicationsMax &&
      `The ${applicationsMax} applications with most events.`,
  )}`
}
