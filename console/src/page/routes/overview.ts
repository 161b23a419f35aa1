import { readPeriod, stepsOf } from '../period.ts'
import { readOverview, type OverviewData } from '../overview.ts'
import { applicationPath } from '../views/links.ts'
import { overviewView } from '../views/overview.ts'
import type { ViewContext } from './context.ts'

/** `GET /`: the overview of the records that arrive. */
export function overviewRoutes({ state, counts, sign, cached, cachedBriefly, view }: ViewContext) {
  view('/', async ({ query, header }) => {
    const period = readPeriod(query, '24h')
    if (header.app !== undefined) return { path: applicationPath(header.app, `?period=${period}`) }
    const steps = stepsOf(period, header.nowMs)
    const { isExact } = await counts()
    const isLong = !isExact && (period === '7d' || period === '30d')
    const read = async () =>
      readOverview(
        await counts(period === '1h' ? 2 * steps.from - steps.to : undefined),
        { steps, nowMs: header.nowMs },
        state.keyNames(),
      )
    const isWhole = ({ isPartial }: OverviewData) => !isPartial
    const data = await (isLong ? cached : cachedBriefly)(`overview ${period}`, read, isWhole)
    const [processes, budgets] = await Promise.all([
      cachedBriefly('processes', () => state.processes()),
      cachedBriefly('budgets', () => state.keyBudgets()),
    ])
    const urls = processes?.gateway.urls ?? []
    const sort = query.get('sort') ?? undefined
    return overviewView({ header, data, period, sign, urls, budgets, sort })
  })
}
