import { listRecords } from '../list-records.ts'
import { countFeedback } from '../overview.ts'
import { PageError } from '../page-error.ts'
import { readPeriod, stepsOf, type Steps } from '../period.ts'
import { catalogueTables, readCatalogue, type CatalogueTable } from '../read-catalogue.ts'
import {
  countBadEvents,
  countDevices,
  readCountedAt,
  readTopEvents,
  readVersions,
  readVersionSteps,
} from '../read-counts.ts'
import { readVersionCodes } from '../read-version-codes.ts'
import { searchLengthMax } from '../search.ts'
import { applicationView, type ApplicationData } from '../views/application.ts'
import { catalogueView } from '../views/catalogue.ts'
import { applicationOf } from '../views/links.ts'
import type { ViewContext } from './context.ts'

const latestFeedback = 3

/**
 * `GET /applications/<bundle_identifier>`, with a tab for the events and params that the
 * application sends.
 */
export function applicationRoutes({ reader, sign, cached, cachedBriefly, view }: ViewContext) {
  view('/applications/:application', async ({ query, params, header }) => {
    const application = applicationOf(params['application'] ?? '')
    if (application.length > searchLengthMax)
      throw new PageError(404, 'There is no such application.')
    if (query.get('tab') === 'catalogue') {
      const pages = readPages(query)
      const [catalogue, countedAtMs] = await cachedBriefly(
        JSON.stringify(['catalogue', application, pages]),
        () =>
          Promise.all([
            readCatalogue(reader, application, pages),
            readCountedAt(reader, 'catalogue'),
          ]),
      )
      const codes = await cachedBriefly(`version codes ${application}`, () =>
        readVersionCodes(reader, application),
      )
      return catalogueView({ header, application, catalogue, countedAtMs, codes })
    }
    const chosen = readPeriod(query, '7d')
    // The overview links to this view with its own period, which may be one hour. The counts of
    // this view have no smaller step than an hour, so it shows 24 hours instead.
    const period = chosen === '1h' ? '24h' : chosen
    const steps = stepsOf(period, header.nowMs)
    const data = await cached(`application ${steps.stepMs} ${application}`, () =>
      read(application, steps),
    )
    return applicationView({ header, application, period, data, sign })
  })

  async function read(application: string, steps: Steps): Promise<ApplicationData> {
    const [versionSteps, topEvents, badEvents, versions, devices, countedAtMs, feedback, counts] =
      await Promise.all([
        readVersionSteps(reader, steps, application),
        readTopEvents(reader, steps, application),
        countBadEvents(reader, steps, application),
        readVersions(reader, steps, application),
        countDevices(reader, steps, application),
        readCountedAt(reader),
        listRecords(reader, 'feedback', { application }),
        countFeedback(reader, steps, [application]),
      ])
    return {
      steps,
      versionSteps,
      topEvents,
      badEvents,
      versions,
      devices,
      countedAtMs,
      feedback: feedback.rows.slice(0, latestFeedback),
      feedbackCount: counts.get(application) ?? 0,
    }
  }
}

/**
 * Reads the page number of each table from a query string; an absent number is 1.
 *
 * @throws {PageError} 400
 */
function readPages(query: URLSearchParams): Record<CatalogueTable, number> {
  const pages: Record<CatalogueTable, number> = { drift: 1, warnings: 1, entries: 1 }
  for (const name of catalogueTables) {
    const text = query.get(name) ?? '1'
    if (!/^[1-9]\d{0,4}$/.test(text))
      throw new PageError(400, `${name} must be the number of a page.`)
    pages[name] = Number(text)
  }
  return pages
}
