import { readPeriod, stepsOf } from '../period.ts'
import { isNew, readOverview } from '../overview.ts'
import { readRecentCounts, withRecentCounts } from '../recent-counts.ts'
import { searchFields } from '../search.ts'
import { firstRun } from '../views/first-run.ts'
import { overviewView } from '../views/overview.ts'
import type { ViewContext } from './context.ts'

/** `GET /`: the overview of the records that arrive. */
export function overviewRoutes({ reader, state, sign, cached, cachedBriefly, view }: ViewContext) {
  view('/', async ({ query, header }) => {
    // In earlier versions this path was the list of feedback. Links to a search in that list must
    // still work, so they are redirected to `/feedback`.
    const isSearch = ['device', 'from', 'to', 'after', ...searchFields.feedback].some((name) =>
      query.has(name),
    )
    if (isSearch) return { path: `/feedback?${query.toString()}` }
    const period = readPeriod(query, '24h')
    const steps = stepsOf(period, header.nowMs)
    const isLong = period === '7d' || period === '30d'
    const data = await (isLong ? cached : cachedBriefly)(`overview ${period}`, async () => {
      const counted = await readOverview(reader, steps, state.keyNames())
      if (period !== '1h') return counted
      return withRecentCounts(counted, await readRecentCounts(reader, steps), header.nowMs)
    })
    return isNew(data) ? firstRun(header) : overviewView({ header, data, period, sign })
  })
  view('/overview', async () => ({ path: '/status' }))
}
