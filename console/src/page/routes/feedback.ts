import { readFeedbackFacets } from '../feedback-facets.ts'
import { listRecords } from '../list-records.ts'
import { readSearch } from '../search.ts'
import { feedbackList } from '../views/feedback-list.ts'
import type { ViewContext } from './context.ts'
import { chosenPeriod, withinPeriod } from './events.ts'

/** `GET /feedback`: the list of feedback. */
export function feedbackRoutes({ reader, sign, cachedBriefly, view }: ViewContext) {
  view('/feedback', async ({ query, header }) => {
    const search = readSearch(query, 'feedback')
    const chosen = chosenPeriod(query, search, { absent: '30d', nowMs: header.nowMs })
    const { steps, period, isGiven } = chosen
    const { after: _, from: __, to: ___, ...counted } = search
    const [found, facets] = await Promise.all([
      listRecords(reader, 'feedback', withinPeriod(search, chosen)),
      cachedBriefly(JSON.stringify(['feedback', counted, steps]), () =>
        readFeedbackFacets(reader, counted, steps),
      ),
    ])
    return feedbackList({ header, search, found, facets, steps, period, isGiven, sign })
  })
}
