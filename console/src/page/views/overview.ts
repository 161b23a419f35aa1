import { dayMs, hourMs } from '@intake/contract'
import { plural } from '@intake/runtime'
import { spark } from '../charts.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, shortDuration, wholeNumber } from '../numbers.ts'
import { isNew, type OverviewData } from '../overview.ts'
import { periods, type PeriodName } from '../period.ts'
import { applicationsMax, type ApplicationCounts } from '../read-counts.ts'
import { table } from '../table.ts'
import type { Header, KeyBudget } from '../worker-state.ts'
import { checklist } from './checklist.ts'
import { document } from './document.ts'
import { findingList } from './findings.ts'
import { applicationPath, appTag } from './links.ts'
import { arrivalChart, refusalList, refusedTile } from './outcomes.ts'
import { ago, badge, card, countedNote, mute, periodLinks, warnings } from './parts.ts'
import type { SignPicture } from './pictures.ts'
import { countTile, eventBars, latestFeedback } from './summary.ts'

interface OverviewOptions {
  header: Header
  data: OverviewData
  period: PeriodName
  sign: SignPicture
  urls: readonly string[]
  budgets: readonly KeyBudget[]
  /** The title of the column by which the applications are sorted. */
  sort: string | undefined
}

export function overviewView(options: OverviewOptions): Html {
  const { header, data, period, urls } = options
  const isFirst = isNew(data)
  const first = checklist({ header, data, isNew: isFirst, urls })
  return document({
    header,
    view: 'overview',
    title: 'Overview',
    alert: warnings(header, data.isPartial),
    tools: !isFirst && periodLinks(period, '/'),
    body: isFirst
      ? first
      : html`${findingList(options)}${first} ${tiles(options)} ${latestFeedback(options)}
          ${card(
            html`Arrivals <small class="hide">when gateways accepted or refused it</small>`,
            arrivalChart(data.arrivals, data.steps),
          )}
          <div class="grid">
            ${card(
              html`Top events <a href="/events">all events</a>`,
              eventBars(data.topEvents, { period }),
            )}
            ${card(
              html`Refused, and why <a href="/status#keys">keys</a>`,
              refusalList(data.refusals, data.names),
              'refused',
            )}
          </div>
          ${card(html`Applications <small>${countedNote(data)}</small>`, applicationTable(options))}`,
  })
}

function tiles(options: OverviewOptions): Html {
  const { data, period } = options
  const leftOut = sumOf(data.arrivals, (point) => point.leftOut)
  return html`<div class="grid g4">
    ${countTile(options, 'events', leftOut > 0 && `; ${wholeNumber(leftOut)} ${plural(leftOut, 'record')} left out`)}
    ${countTile(options, 'devices')} ${countTile(options, 'feedback')} ${refusedTile(data, period)}
  </div>`
}

function applicationTable({ header, data, period, sort }: OverviewOptions): Html {
  const { applications, isExact } = data
  const lastOf = ({ lastMs }: ApplicationCounts) => {
    const silentMs = header.nowMs - lastMs - (isExact ? 0 : hourMs)
    if (silentMs > dayMs) return badge(`silent for ${shortDuration(silentMs / 1_000)}`, 'warning')
    return silentMs < hourMs && !isExact ? 'this hour' : ago(lastMs, header.nowMs)
  }
  return html`${table(
    'Applications',
    applications,
    [
      [
        'Application',
        ({ bundle_identifier: id }) =>
          html`<a href="${applicationPath(id, `?period=${period}`)}">${appTag(id)}</a>`,
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
