import { isUuid } from '@intake/contract'
import { countDeadLetters, listDeadLetters } from '../dead-letters.ts'
import { findById, findByOtherId } from '../find-records.ts'
import { findAnything } from '../find-anything.ts'
import { readHowOften } from '../how-often.ts'
import type { Html } from '../html.ts'
import { listEventsAround, listRecords } from '../list-records.ts'
import { PageError } from '../page-error.ts'
import { readExact, readPageNumber, readText, requireUuid } from '../search.ts'
import { deadLetterList } from '../views/dead-letter-list.ts'
import { listPath, recordPath, withApp } from '../views/links.ts'
import { recordView } from '../views/record.ts'
import { foundList, searchView } from '../views/search.ts'
import type { Header } from '../worker-state.ts'
import { unlessClickHouseFails } from '../without-clickhouse.ts'
import type { Elsewhere, ViewContext } from './context.ts'

const nothing = { rows: [], hasMore: false }

/** `GET /feedback/<id>`, `GET /events/<id>`, `GET /search` and `GET /dead-letters`. */
export function recordRoutes({ reader, counts, state, sign, view }: ViewContext): void {
  for (const [kind, path] of [
    ['feedback', '/feedback/:id'],
    ['logs', '/events/:id'],
  ] as const) {
    view(path, async ({ params, query, header }) => {
      const records = await findById(reader, kind, {
        id: requireUuid(params['id'] ?? '', 'The id'),
        device: readText(query, 'device'),
        application: readExact(query, 'application'),
      })
      const [record] = records
      if (record === undefined) throw new PageError(404, 'There is no such record.')
      // Lists several records as links instead of showing them, because each can be large.
      if (records.length > 1) {
        const rows = records.map(({ columns }) => columns)
        return foundList(header, { feedback: nothing, logs: nothing, [kind]: { ...nothing, rows } })
      }
      const [around, names, howOften] = await Promise.all([
        listEventsAround(reader, record.columns),
        state.keyNames(),
        kind === 'logs' ? unlessClickHouseFails(readHowOften(reader, record)) : undefined,
      ])
      return recordView({ header, found: { record, around }, howOften, sign, names })
    })
  }
  view('/search', async ({ query, header }) => {
    const text = readText(query, 'q') ?? ''
    const { app } = header
    if (isUuid(text)) return findUuid(text, header)
    const matches = await findAnything(counts, text, app)
    // The id of a user may be an e-mail address.
    if (matches.found.length === 0 && text.includes('@'))
      return { path: listPath('feedback', { application: app, text }) }
    return searchView(header, text, matches)
  })

  /** Finds a record by its id, the records of a request, a dead letter, a device, or a user. */
  async function findUuid(text: string, header: Header): Promise<Html | Elsewhere> {
    const id = text.toLowerCase()
    for (const kind of ['feedback', 'logs'] as const) {
      const [record] = await findById(reader, kind, { id })
      if (record !== undefined) return { path: withApp(recordPath(kind, id), header.app) }
    }
    const letters = await listDeadLetters(reader, 1, id)
    if (letters.rows.length > 0) return deadLetterList(header, letters, [])
    const ofDevice = { device: id, ...(header.app !== undefined && { application: header.app }) }
    const [feedback, logs, events, sent] = await Promise.all([
      findByOtherId(reader, 'feedback', id),
      findByOtherId(reader, 'logs', id),
      listRecords(reader, 'logs', ofDevice),
      listRecords(reader, 'feedback', ofDevice),
    ])
    if (feedback.rows.length + logs.rows.length === 0) {
      if (events.rows.length > 0) return { path: listPath('logs', ofDevice) }
      if (sent.rows.length > 0) return { path: listPath('feedback', ofDevice) }
      const matches = await findAnything(counts, text, header.app)
      if (matches.found.length > 0) return searchView(header, text, matches)
    }
    return foundList(header, { feedback, logs })
  }

  view('/dead-letters', async ({ query, header }) => {
    const [found, reasons] = await Promise.all([
      listDeadLetters(reader, readPageNumber(query, 'page')),
      countDeadLetters(reader),
    ])
    return deadLetterList(header, found, reasons)
  })
}
