import { plural } from '@intake/runtime'
import { badNames, badWords } from '../bad-events.ts'
import { chart, legendKey, type Point, type Series } from '../charts.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, wholeNumber } from '../numbers.ts'
import { readSummary } from '../overview.ts'
import { PageError } from '../page-error.ts'
import { periods, readPeriod, startsOf, stepsOf, type Steps } from '../period.ts'
import { readCatalogue, readVersionCodes } from '../read-catalogue.ts'
import { readCountedAt, readTopEvents } from '../read-counts.ts'
import { readVersions, readVersionSteps, versionsMax } from '../read-counts.ts'
import { readCrashes, readSessions, readWeeks } from '../read-usage.ts'
import { applicationOf, readPageNumber, searchLengthMax, stepAt } from '../search.ts'
import { catalogueView } from '../views/catalogue.ts'
import { document } from '../views/document.ts'
import { findingList } from '../views/findings.ts'
import { applicationPath, listLink, listPath } from '../views/links.ts'
import { card, mute, periodLinks, tile, warnings } from '../views/parts.ts'
import { applicationTabs, countTile, eventBars, latestFeedback } from '../views/summary.ts'
import { crashCard, crashFreeOf, versionCard, weekCard } from '../views/usage.ts'
import { createViewParts, unlessClickHouseFails } from '../without-clickhouse.ts'
import type { Header } from '../worker-state.ts'
import type { ViewContext } from './context.ts'

/** `GET /applications/<bundle_identifier>`, with a tab for the catalogue. */
export function applicationRoutes(context: ViewContext) {
  const { reader, state, sign, counts, cached, cachedBriefly, view } = context
  view('/applications/:application', async ({ query, params, header }) => {
    const application = applicationOf(params['application'] ?? '')
    if (application.length > searchLengthMax)
      throw new PageError(404, 'There is no such application.')
    if (query.get('tab') === 'catalogue') return catalogue(application, query, header)
    const chosen = readPeriod(query, '7d')
    // Links of the overview may have one hour, but counts have no smaller step than that.
    const period = chosen === '1h' ? '24h' : chosen
    const steps = stepsOf(period, header.nowMs)
    const data = await ((await counts()).isExact ? cachedBriefly : cached)(
      `application ${steps.stepMs} ${application}`,
      () => read(context, { application, steps, nowMs: header.nowMs }),
      ({ isPartial }) => !isPartial,
    )
    const budgets = await cachedBriefly('budgets', () => state.keyBudgets())
    const errors = data.errors[0]?.total ?? 0
    const options = { header, application, period, data, sign, budgets }
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
  })

  async function catalogue(application: string, query: URLSearchParams, header: Header) {
    const numberOf = (name: string) => readPageNumber(query, name)
    const pages = {
      drift: numberOf('drift'),
      warnings: numberOf('warnings'),
      entries: numberOf('entries'),
    }
    const readTables = () =>
      Promise.all([
        readCatalogue(reader, application, pages),
        readCountedAt(reader, 'catalogue'),
        readVersionCodes(reader, application),
      ])
    const key = JSON.stringify(['catalogue', application, pages])
    const [tables, countedAtMs, codes] = await cachedBriefly(key, readTables)
    return catalogueView({ header, application, catalogue: tables, countedAtMs, codes })
  }
}

async function read(
  context: ViewContext,
  { application, steps, nowMs }: { application: string; steps: Steps; nowMs: number },
) {
  const { reader } = context
  const counts = await context.counts()
  const { orElse, isPartial } = createViewParts()
  const [summary, versionSteps, errors, versions, crashes, sessions, weeks] = await Promise.all([
    readSummary(counts, { steps, application, orElse }),
    orElse(readVersionSteps(counts, steps, application), []),
    orElse(readTopEvents(counts, steps, application, badNames), []),
    orElse(readVersions(counts, steps, application), []),
    // Undefined if counting them would read too much.
    unlessClickHouseFails(readCrashes(reader, steps, application)),
    unlessClickHouseFails(readSessions(reader, steps, application)),
    unlessClickHouseFails(readWeeks(reader, application, nowMs)),
  ])
  const own = { versionSteps, errors, versions, crashes, sessions, weeks }
  return { ...summary, ...own, isPartial: isPartial() }
}

type ApplicationData = Awaited<ReturnType<typeof read>>

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
