import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ClickHouseError } from '@intake/clickhouse'
import { limitRepeats, type Logger } from '@intake/runtime'
import { guardAccess, requireOwnSite } from './access.ts'
import { icon, stylesheet } from './assets.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { listDeadLetters, readDeadLetterCursor } from './dead-letters.ts'
import { cutOffAfter, onceClosed } from './end-of-response.ts'
import { findById, findByOtherId } from './find-records.ts'
import type { Html } from './html.ts'
import { listEventsAround, listRecords } from './list-records.ts'
import { PageError } from './page-error.ts'
import { pictureRoutes, signedPrefix } from './picture-routes.ts'
import type { PictureStore } from './read-picture.ts'
import type { RecordReader } from './records.ts'
import { readExact, readSearch, readText, requireUuid } from './search.ts'
import { securityHeaders } from './security-headers.ts'
import { createSignedLinks } from './signed-links.ts'
import { readOverview, type ReadBacklog } from './overview.ts'
import { deadLetterList } from './views/dead-letter-list.ts'
import { eventList } from './views/event-list.ts'
import { feedbackList } from './views/feedback-list.ts'
import { foundList } from './views/found.ts'
import { recordPath } from './views/links.ts'
import { problemView } from './views/problem.ts'
import { recordView } from './views/record.ts'
import { overviewView } from './views/overview.ts'

export interface PageOptions {
  /** Undefined if only this machine may see the page. */
  password: string | undefined
  /**
   * A secret that only the workers know, for signing links to pictures. If undefined, links expire
   * with the process.
   */
  linkSecret?: string | undefined
  reader: RecordReader
  /** Undefined if there is no object store for pictures. */
  store: PictureStore | undefined
  /** Whether pictures are stored with their metadata (`KEEP_METADATA`), which the page then says. */
  keepsMetadata?: boolean
  backlog: ReadBacklog
  log: Logger
  /** Called when a view or picture could not be shown because of a server error. */
  onFailed: () => void
}

interface Elsewhere {
  path: string
}

/** How many views are created or sent at once (each runs a few queries), and how many may wait. */
const viewsMax = { atOnce: 4, waitingMax: 32 }
/** A view is cut off when creating and sending it takes longer than this. */
const viewTimeoutMs = 60_000
const eventsAround = 25
const nothingFound = {
  feedback: { rows: [], hasMore: false },
  logs: { rows: [], hasMore: false },
}

/**
 * The page: feedback with its pictures, events, dead letters and the state of the queue, read-only.
 * It authenticates its own requests; routes that are registered elsewhere are not affected.
 */
export async function page(app: FastifyInstance, options: PageOptions): Promise<void> {
  const { password, reader, store, keepsMetadata = false, log } = options
  const links = createSignedLinks(password, options.linkSecret)
  const views = createConcurrencyLimit(viewsMax)
  const sign = store && {
    path: (key: string) => links.sign(`${signedPrefix}${key}`),
    keepsMetadata,
  }
  const isSigned = (request: FastifyRequest) =>
    password !== undefined &&
    request.url.startsWith(signedPrefix) &&
    links.isValid(pathOf(request), queryOf(request))
  const warn = limitRepeats((err, omitted) => {
    const help = 'docs/operations/page-fails.md'
    log.warn({ err, omitted, help }, 'the page could not be shown')
  })

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders)
    if (!isSigned(request)) requireOwnSite(request)
  })
  await guardAccess(app, { password, isOpen: isSigned })
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof PageError) || error.statusCode === 502) {
      warn(error)
      options.onFailed()
    }
    const { statusCode, message } = problemOf(error)
    return sendHtml(reply.code(statusCode), problemView(statusCode, message))
  })

  /**
   * Registers a route that shows a view or redirects. A request waits while too many views are
   * being created.
   */
  function view(path: string, make: (request: FastifyRequest) => Promise<Html | Elsewhere>) {
    app.get(path, async (request, reply) => {
      onceClosed(reply, await views.enter())
      cutOffAfter(viewTimeoutMs, reply)
      const made = await make(request)
      return 'path' in made ? reply.redirect(made.path, 303) : sendHtml(reply, made)
    })
  }

  view('/', async (request) => {
    const search = readSearch(queryOf(request), 'feedback')
    return feedbackList({ search, found: await listRecords(reader, 'feedback', search), sign })
  })
  view('/events', async (request) => {
    const search = readSearch(queryOf(request), 'logs')
    return eventList({ search, found: await listRecords(reader, 'logs', search) })
  })
  for (const [kind, path] of [
    ['feedback', '/feedback/:id'],
    ['logs', '/events/:id'],
  ] as const) {
    view(path, async (request) => {
      const { id } = request.params as { id: string }
      const query = queryOf(request)
      const [device, application] = [readText(query, 'device'), readExact(query, 'application')]
      const records = (await findById(reader, kind, requireUuid(id, 'The id'))).filter(
        ({ columns }) =>
          (device === undefined || columns.device_uuid === device) &&
          (application === undefined || columns.bundle_identifier === application),
      )
      if (records.length === 0) throw new PageError(404, 'There is no such record.')
      // Several records are listed with links instead of shown, because each can be large.
      if (records.length > 1) {
        const rows = records.map(({ columns }) => columns)
        return foundList({ ...nothingFound, [kind]: { rows, hasMore: false } })
      }
      const found = records.map(async (record) => ({
        record,
        around: await listEventsAround(reader, record.columns, eventsAround),
      }))
      return recordView(await Promise.all(found), sign)
    })
  }
  view('/find', async (request) => {
    const id = requireUuid(readText(queryOf(request), 'id') ?? '', 'The id')
    for (const kind of ['feedback', 'logs'] as const) {
      const [record] = await findById(reader, kind, id)
      if (record !== undefined) return { path: recordPath(kind, id) }
    }
    const letters = await listDeadLetters(reader, { id })
    if (letters.rows.length > 0) return deadLetterList(letters)
    const [feedback, logs] = await Promise.all([
      findByOtherId(reader, 'feedback', id),
      findByOtherId(reader, 'logs', id),
    ])
    return foundList({ feedback, logs })
  })
  view('/dead-letters', async (request) => {
    const after = readDeadLetterCursor(queryOf(request))
    return deadLetterList(await listDeadLetters(reader, { after }))
  })
  view('/overview', async () => overviewView(await readOverview(reader, options.backlog)))

  pictureRoutes(app, { reader, store, keepsMetadata, links })
  app.get('/page.css', async (_request, reply) => reply.type('text/css').send(stylesheet))
  app.get('/icon.svg', async (_request, reply) => reply.type('image/svg+xml').send(icon))
}

function sendHtml(reply: FastifyReply, markup: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(markup.toString())
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? ''
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'))
}

/** ClickHouse's error codes for a user who may not read the views, and for wrong credentials. */
const accessDenied = 497
const wrongCredentials = 516

function problemOf(error: unknown): { statusCode: number; message: string } {
  if (error instanceof PageError) return error
  if (error instanceof ClickHouseError) {
    const { code } = error
    const isDenied = code === accessDenied || code === wrongCredentials
    const message = isDenied
      ? 'ClickHouse refuses: PAGE_CLICKHOUSE_URL must name a user who may read the views.'
      : 'ClickHouse did not respond in time, or the search is too large: narrow it by application or time.'
    return { statusCode: 503, message }
  }
  const { statusCode } = error as { statusCode?: unknown }
  if (statusCode === 400 || statusCode === 404)
    return { statusCode, message: 'There is no such page.' }
  return {
    statusCode: 500,
    message: 'This is a fault of Intake. The log of the worker has the reason.',
  }
}
