import { countDeadLetters, listDeadLetters, readDeadLetterCursor } from '../dead-letters.ts'
import { findById, findByOtherId } from '../find-records.ts'
import { eventsAroundMax, listEventsAround } from '../list-records.ts'
import { PageError } from '../page-error.ts'
import { readExact, readText, requireUuid } from '../search.ts'
import { deadLetterList } from '../views/dead-letter-list.ts'
import { foundList } from '../views/found.ts'
import { recordPath } from '../views/links.ts'
import { recordView } from '../views/record.ts'
import type { ViewContext } from './context.ts'

const nothingFound = {
  feedback: { rows: [], hasMore: false },
  logs: { rows: [], hasMore: false },
}

/** `GET /feedback/<id>`, `GET /events/<id>`, `GET /find` and `GET /dead-letters`. */
export function recordRoutes({ reader, state, sign, view }: ViewContext): void {
  for (const [kind, path] of [
    ['feedback', '/feedback/:id'],
    ['logs', '/events/:id'],
  ] as const) {
    view(path, async ({ params, query, header }) => {
      const [device, application] = [readText(query, 'device'), readExact(query, 'application')]
      const id = requireUuid(params['id'] ?? '', 'The id')
      const records = (await findById(reader, kind, id)).filter(
        ({ columns }) =>
          (device === undefined || columns.device_uuid === device) &&
          (application === undefined || columns.bundle_identifier === application),
      )
      const [record] = records
      if (record === undefined) throw new PageError(404, 'There is no such record.')
      // Lists several records as links instead of showing them, because each can be large.
      if (records.length > 1) {
        const rows = records.map(({ columns }) => columns)
        return foundList(header, { ...nothingFound, [kind]: { rows, hasMore: false } })
      }
      const [around, names] = await Promise.all([
        listEventsAround(reader, record.columns, eventsAroundMax),
        state.keyNames(),
      ])
      return recordView({ header, found: { record, around }, sign, names })
    })
  }
  view('/find', async ({ query, header }) => {
    const id = requireUuid(readText(query, 'id') ?? '', 'The id')
    for (const kind of ['feedback', 'logs'] as const) {
      const [record] = await findById(reader, kind, id)
      if (record !== undefined) return { path: recordPath(kind, id) }
    }
    const letters = await listDeadLetters(reader, { id })
    if (letters.rows.length > 0) return deadLetterList(header, letters, [])
    const [feedback, logs] = await Promise.all([
      findByOtherId(reader, 'feedback', id),
      findByOtherId(reader, 'logs', id),
    ])
    return foundList(header, { feedback, logs })
  })
  view('/dead-letters', async ({ query, header }) => {
    const after = readDeadLetterCursor(query)
    const [found, reasons] = await Promise.all([
      listDeadLetters(reader, { after }),
      countDeadLetters(reader),
    ])
    return deadLetterList(header, found, reasons)
  })
}
