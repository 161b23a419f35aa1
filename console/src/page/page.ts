import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ClickHouseError } from '@intake/clickhouse'
import { createWarning, type Logger } from '@intake/runtime/process'
import { guardAccess, requireOwnSite } from './access.ts'
import { assetRoutes } from './assets.ts'
import { createCache } from '../cached.ts'
import { countReader, readIsSmall } from './count-reader.ts'
import { createConcurrencyLimit, cutOffAfter } from './concurrency-limit.ts'
import { withTyped } from './filter-words.ts'
import type { Html } from './html.ts'
import { createKnownApplications } from './known-applications.ts'
import { PageError } from './page-error.ts'
import { pictureRoutes, signedPrefix } from './picture-routes.ts'
import type { PictureStore } from './read-picture.ts'
import { withLimits, type RecordReader } from './records.ts'
import { applicationRoutes } from './routes/applications.ts'
import type { CsvFile, ViewContext } from './routes/context.ts'
import { eventRoutes } from './routes/events.ts'
import { feedbackRoutes } from './routes/feedback.ts'
import { helpRoutes } from './routes/help.ts'
import { liveRoutes } from './routes/live.ts'
import { overviewRoutes } from './routes/overview.ts'
import { recordRoutes } from './routes/records.ts'
import { statusRoutes } from './routes/status.ts'
import { chosenApplication } from './search.ts'
import { securityHeaders } from './security-headers.ts'
import { awayTimeoutMs, isAway, isRefused, unlessClickHouseFails } from './without-clickhouse.ts'
import { createSignedLinks } from './signed-links.ts'
import { problemView } from './views/document.ts'
import { readHeader, type WorkerState } from './worker-state.ts'
import { inZone, readZone } from './zone.ts'

export interface PageOptions {
  /** If undefined, only this machine may see the page. */
  password: string | undefined
  /** Wrong passwords are counted by it. */
  addressOf: (request: IncomingMessage) => string
  /** All consoles share it. If undefined, links are valid only until this process ends. */
  linkSecret?: string | undefined
  reader: RecordReader
  store: PictureStore | undefined
  /** Whether pictures are stored with their metadata (`KEEP_METADATA`). */
  keepsMetadata?: boolean
  state: WorkerState
  log: Logger
  onFailed: () => void
}

/** Urgent views count separately. */
const viewsMax = { atOnce: 4, waitingMax: 32 }
/** The connection of a view that takes longer is closed. */
const viewTimeoutMs = 60_000
/** `long` is for counts of long periods, `brief` for data that many readers request at once. */
const cacheMs = { long: 60_000, brief: 1_000 }

/** Serves the page. Its routes authenticate their own requests; other routes are not affected. */
export async function page(app: FastifyInstance, options: PageOptions): Promise<void> {
  const { password, store, keepsMetadata = false, state } = options
  const reader = withLimits(options.reader)
  const links = createSignedLinks(password, options.linkSecret)
  const views = createConcurrencyLimit(viewsMax)
  const urgentViews = createConcurrencyLimit(viewsMax)
  const isSigned = (request: FastifyRequest) =>
    password !== undefined &&
    request.url.startsWith(signedPrefix) &&
    links.isValid(pathOf(request), queryOf(request))
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders)
    if (!isSigned(request)) requireOwnSite(request)
  })
  app.addHook('onRequest', (request, reply, done) => {
    const { zone, cookie } = readZone(queryOf(request), request.raw)
    if (cookie !== undefined) reply.header('set-cookie', cookie)
    inZone(zone, done)
  })
  await guardAccess(app, { password, addressOf: options.addressOf, isOpen: isSigned })
  showProblems(app, options)
  const cached = createCache(cacheMs.long)
  const knownApplications = createKnownApplications(() => context.counts(), cached)
  const context: ViewContext = {
    reader,
    state,
    async counts(recordsFromMs) {
      const reading = () => unlessClickHouseFails(readIsSmall(reader))
      const isSmall = (await cached('is small', reading, (found) => found !== undefined)) ?? false
      return countReader(reader, { isSmall, recordsFromMs, scopes: await state.scopes() })
    },
    cached,
    cachedBriefly: createCache(cacheMs.brief),
    sign: store && { path: (key) => links.sign(`${signedPrefix}${key}`), keepsMetadata },
    view(path, make, { isUrgent = false, ...routeOptions } = {}) {
      const limit = isUrgent ? urgentViews : views
      app.get(path, routeOptions, async (request, reply) => {
        const made = await limit.run(reply, async () => {
          cutOffAfter(viewTimeoutMs, reply)
          const query = queryOf(request)
          const typed = withTyped(query, path.startsWith('/feedback') ? 'feedback' : 'logs')
          if (typed !== undefined) return { path: `${pathOf(request)}?${typed}` }
          const params = request.params as Record<string, string>
          const applications = await knownApplications()
          const chosen = { app: chosenApplication(query, params), applications }
          const header = readHeader(state, { ...chosen, path: pathOf(request), query })
          const making = make({ query, params, reply, header })
          return isUrgent || !isAway(header) ? making : unlessAway(making)
        })
        return 'path' in made ? reply.redirect(made.path, 303) : send(reply, made)
      })
    },
  }
  for (const register of routes) register(context)
  pictureRoutes(app, { reader, store, keepsMetadata, links })
  assetRoutes(app)
}

const routes = [
  overviewRoutes,
  liveRoutes,
  eventRoutes,
  feedbackRoutes,
  applicationRoutes,
  recordRoutes,
  statusRoutes,
  helpRoutes,
]

/** @throws {PageError} 503 if a view takes longer than a second while ClickHouse is away */
async function unlessAway<Made>(making: Promise<Made>): Promise<Made> {
  const made = await unlessClickHouseFails(making, awayTimeoutMs)
  if (made !== undefined) return made
  throw new PageError(503, 'Accepting, not storing: ClickHouse does not respond. Nothing is lost.')
}

function showProblems(app: FastifyInstance, { state, log, onFailed }: PageOptions): void {
  const warn = createWarning(log, 'docs/operations/page-fails.md', 'the page could not be shown')
  const show = (reply: FastifyReply, { statusCode, message }: ReturnType<typeof problemOf>) =>
    send(reply.code(statusCode), problemView(readHeader(state), statusCode, message))
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof PageError) || error.statusCode === 502) {
      warn(error)
      onFailed()
    }
    return show(reply, problemOf(error))
  })
  app.setNotFoundHandler((_request, reply) => show(reply, problemOf({ statusCode: 404 })))
}

function send(reply: FastifyReply, made: Html | CsvFile): FastifyReply {
  if (!('csv' in made)) return reply.type('text/html; charset=utf-8').send(made.toString())
  const disposition = `attachment; filename="${made.file}"`
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', disposition)
    .send(made.csv)
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''
const queryOf = ({ url }: FastifyRequest) => new URLSearchParams(url.split('?').slice(1).join('?'))

function problemOf(error: unknown): { statusCode: number; message: string } {
  if (error instanceof PageError) return error
  if (error instanceof ClickHouseError) {
    const message = isRefused(error)
      ? 'ClickHouse refuses: PAGE_CLICKHOUSE_URL must name a user who may read the views.'
      : 'ClickHouse did not respond in time, or the search is too large: narrow it by application or time.'
    return { statusCode: 503, message }
  }
  const { statusCode } = error as { statusCode?: unknown }
  if (statusCode === 400 || statusCode === 404)
    return { statusCode, message: 'There is no such page.' }
  return {
    statusCode: 500,
    message: 'This is a fault of Intake. The log of the console has the reason.',
  }
}
