import { dayMs, hourMs } from '@intake/contract'
import { plural } from '@intake/runtime'
import { spark } from '../charts.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, shortDuration, wholeNumber } from '../numbers.ts'
import { isNew, readOverview, type OverviewData } from '../overview.ts'
import { periods, readPeriod, stepsOf, windowBefore, type PeriodName } from '../period.ts'
import { applicationsMax, type ApplicationCounts } from '../read-counts.ts'
import { table } from '../table.ts'
import { checklist } from '../views/checklist.ts'
import { document } from '../views/document.ts'
import { findingList } from '../views/findings.ts'
import { applicationPath, appTag } from '../views/links.ts'
import { arrivalChart, refusalList, refusedTile } from '../views/outcomes.ts'
import { ago, badge, card, countedNote, mute, periodLinks, warnings } from '../views/parts.ts'
import { countTile, eventBars, latestFeedback } from '../views/summary.ts'
import type { Header } from '../worker-state.ts'
import type { ViewContext } from './context.ts'

/** `GET /`: the overview of the records that arrive. */
export function overviewRoutes({ state, counts, sign, cached, cachedBriefly, view }: ViewContext) {
  view('/', async ({ query, header }) => {
    const period = readPeriod(query, '24h')
    if (header.app !== undefined) return { path: applicationPath(header.app, `?period=${period}`) }
    const steps = stepsOf(period, header.nowMs)
    const { isExact } = await counts()
    const isLong = !isExact && (period === '7d' || period === '30d')
    const recordsFromMs = period === '1h' ? windowBefore(steps).from : undefined
    const read = async () => readOverview(await counts(recordsFromMs), steps, state.keyNames())
    const isWhole = ({ isPartial }: OverviewData) => !isPartial
    const data = await (isLong ? cached : cachedBriefly)(`overview ${period}`, read, isWhole)
    const [processes, budgets] = await Promise.all([
      cachedBriefly('processes', () => state.processes()),
      cachedBriefly('budgets', () => state.keyBudgets()),
    ])
    const options = { header, data, period, sign, budgets, sort: query.get('sort') ?? undefined }
    const isFirst = isNew(data)
    const urls = processes?.gateway.urls ?? []
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
  })
}

interface OverviewOptions {
  header: Header
  data: OverviewData
  period: PeriodName
  /** The title of the column by which the applications are sorted. */
  sort: string | undefined
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
      `${applicationsMax} applications: of each API key those with most events.`,
  )}`
}
