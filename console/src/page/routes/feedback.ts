import { chosenPeriod, withinPeriod } from '../period.ts'
import { readFeedbackCsv } from '../feedback-csv.ts'
import { readFeedbackFacets } from '../feedback-facets.ts'
import { findById } from '../find-records.ts'
import { listRecords } from '../list-records.ts'
import { readCursor, readExact, readSearch, withoutPeriod } from '../search.ts'
import { feedbackList } from '../views/feedback-list.ts'
import { cursorOf } from '../views/links.ts'
import type { ViewContext } from './context.ts'

/** `GET /feedback`: the inbox; `GET /feedback.csv`: what it lists, as a file. */
export function feedbackRoutes({ reader, sign, counts, cachedBriefly, view }: ViewContext) {
  view('/feedback', async ({ query, header }) => {
    const search = readSearch(query, 'feedback')
    const chosen = chosenPeriod(query, search, { absent: '30d', nowMs: header.nowMs })
    const { steps } = chosen
    const counted = withoutPeriod(search)
    const place = readExact(query, 'open')
    const [found, facets] = await Promise.all([
      listRecords(reader, 'feedback', withinPeriod(search, chosen)),
      cachedBriefly(JSON.stringify(['feedback', counted, steps]), async () =>
        readFeedbackFacets(await counts(), counted, steps),
      ),
    ])
    const [first] = found.rows
    const wanted = place === undefined ? first && cursorOf(first) : readCursor(place)
    const [record] = wanted ? await findById(reader, 'feedback', wanted) : []
    const open = record?.columns
    const isChosen = place !== undefined
    return feedbackList({ header, search, found, facets, chosen, sign, open, isChosen })
  })
  view('/feedback.csv', async ({ query, header }) => {
    const search = readSearch(query, 'feedback')
    const { steps } = chosenPeriod(query, search, { absent: '30d', nowMs: header.nowMs })
    return { file: 'feedback.csv', csv: await readFeedbackCsv(reader, search, steps) }
  })
}
