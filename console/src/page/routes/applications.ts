import { badNames } from '../bad-events.ts'
import { readSummary } from '../overview.ts'
import { PageError } from '../page-error.ts'
import { readPeriod, stepsOf, type Steps } from '../period.ts'
import { readCatalogue, readVersionCodes } from '../read-catalogue.ts'
import { readCountedAt, readTopEvents, readVersions, readVersionSteps } from '../read-counts.ts'
import { readCrashes, readSessions, readWeeks } from '../read-usage.ts'
import { applicationOf, readPageNumber, searchLengthMax } from '../search.ts'
import { applicationView, type ApplicationData } from '../views/application.ts'
import { catalogueView } from '../views/catalogue.ts'
import { createViewParts, unlessClickHouseFails } from '../without-clickhouse.ts'
import type { ViewContext } from './context.ts'

/** `GET /applications/<bundle_identifier>`, with a tab for the catalogue. */
export function applicationRoutes(context: ViewContext) {
  const { reader, state, sign, counts: countReader, cached, cachedBriefly, view } = context
  view('/applications/:application', async ({ query, params, header }) => {
    const application = applicationOf(params['application'] ?? '')
    if (application.length > searchLengthMax)
      throw new PageError(404, 'There is no such application.')
    if (query.get('tab') === 'catalogue') {
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
      const [catalogue, countedAtMs, codes] = await cachedBriefly(key, readTables)
      return catalogueView({ header, application, catalogue, countedAtMs, codes })
    }
    const chosen = readPeriod(query, '7d')
    // Links of the overview may have one hour, but counts have no smaller step than that.
    const period = chosen === '1h' ? '24h' : chosen
    const steps = stepsOf(period, header.nowMs)
    const { isExact } = await countReader()
    const data = await (isExact ? cachedBriefly : cached)(
      `application ${steps.stepMs} ${application}`,
      () => read(application, steps, header.nowMs),
      ({ isPartial }) => !isPartial,
    )
    const budgets = await cachedBriefly('budgets', () => state.keyBudgets())
    return applicationView({ header, application, period, data, sign, budgets })
  })

  async function read(application: string, steps: Steps, nowMs: number): Promise<ApplicationData> {
    const counts = await countReader()
    const { orElse, isPartial } = createViewParts()
    const [summary, versionSteps, errors, versions, crashes, sessions, weeks] = await Promise.all([
      readSummary(counts, { steps, nowMs, application, orElse }),
      orElse(readVersionSteps(counts, steps, application), []),
      orElse(readTopEvents(counts, steps, application, badNames), []),
      orElse(readVersions(counts, steps, application), []),
      unlessClickHouseFails(readCrashes(reader, steps, application)),
      unlessClickHouseFails(readSessions(reader, steps, application)),
      unlessClickHouseFails(readWeeks(reader, application, nowMs)),
    ])
    const own = { versionSteps, errors, versions, crashes, sessions, weeks }
    return { ...summary, ...own, isPartial: isPartial() }
  }
}
