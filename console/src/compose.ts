import { ClickHouseError, createClickHouse, describeError } from '@intake/clickhouse'
import { objectStoreSettings, webhookReceivers, type ConsoleConfig } from '@intake/config'
import { adminRoutes } from '@intake/health'
import { helpOf } from '@intake/health/problem-catalogue'
import { startAdminServer } from '@intake/http-edge'
import { createObjectStore, measureObjectStore, type ObjectStore } from '@intake/object-store'
import {
  alertWebhook,
  createDeliverySink,
  feedbackWebhook,
  markDeliveries,
} from '@intake/queue/consume'
import { connectRedis } from '@intake/redis'
import {
  createMetrics,
  createWarning,
  type ProcessContext,
  type Registry,
} from '@intake/runtime/process'
import { createAlertStore } from '@intake/access'
import { createPageState } from './admin/page-state.ts'
import { createPage } from './admin/page.ts'
import { startAlertWebhook } from './alerts/alert-webhook.ts'
import { createAlertRun, startAlerts } from './alerts/alerts.ts'
import { registerCountMetrics, startCounts } from './counts.ts'
import { startThumbnails, type Thumbnails } from './thumbnails/thumbnails.ts'
import { startWatch, type Watch } from './watch/watch.ts'
import { startFeedbackWebhook } from './webhook/feedback-webhook.ts'
import { createReceivers } from './webhook/receivers.ts'
import { createWebhookMetrics } from './webhook/start-webhook.ts'

type Context = ProcessContext<typeof ConsoleConfig>

interface Parts {
  registry: Registry
  connections: ReturnType<typeof connect>
  watch: Watch
  objects: ObjectStore | undefined
  thumbnails: Thumbnails | undefined
}

/** Of the page, the webhook and alerts. ClickHouse cancels a query earlier by itself. */
const readTimeoutMs = 15_000
const countTimeoutMs = 120_000
const insertTimeoutMs = 60_000
/**
 * For so long the problem `counts_late` is shown after a failure: what failed is tried again after
 * ten minutes at the earliest. It is also shown as long as the counts are old.
 */
const countsLateMs = { failed: 15 * 60_000, old: 60_000 }
const storeTimeoutMs = 20_000
/** Few, so that inserts get most of ClickHouse's capacity. */
const readsMax = 6
const redisHelp = helpOf('redis_connection')

/**
 * Starts the console. The owner closes the parts in reverse order: first the admin port with the
 * page, then what sends and makes, then the connections.
 */
export async function compose(context: Context): Promise<void> {
  const { log } = context
  const registry = createMetrics()
  const connections = connect(context)
  const objects = connectObjects(context, registry)
  const thumbnails = objects && makeThumbnails(context, { registry, connections, objects })
  const watch = startWatch({
    ...context,
    ...connections,
    registry,
    onFeedback: () => thumbnails?.arrived(),
  })
  const parts = { registry, connections, watch, objects, thumbnails }
  openWebhooks(context, parts)
  evaluateAlerts(context, parts)
  count(context, parts)
  const adminPort = await serve(context, parts)
  log.info({ adminPort }, 'console is up')
}

function connect({ config, log, secrets, owner }: Context) {
  const redis = connectRedis({
    url: secrets.follow('REDIS_URL'),
    role: 'consumer',
    onError: createWarning(log, redisHelp, 'Redis connection failed'),
  })
  owner.add(() => redis.disconnect())
  /** The client that stores counts, and facts about pictures. */
  const clickhouse = createClickHouse({
    url: secrets.follow('CLICKHOUSE_URL'),
    spread: true,
    cluster: config.CLICKHOUSE_CLUSTER,
    requestTimeoutMs: insertTimeoutMs,
  })
  owner.add(() => clickhouse.close())
  const reader = createReader({ config, secrets, owner }, readTimeoutMs, readsMax)
  const logQueueError = createWarning(log, redisHelp, 'queue error')
  function onQueueError(error: unknown): void {
    // Another log line already reports a missing connection.
    if (redis.status === 'ready') logQueueError(error)
  }
  return { redis, clickhouse, reader, onQueueError }
}

function createReader(
  { config, secrets, owner }: Pick<Context, 'config' | 'secrets' | 'owner'>,
  requestTimeoutMs: number,
  connectionsMax: number,
) {
  const reader = createClickHouse({
    url: secrets.follow(config.PAGE_CLICKHOUSE_URL ? 'PAGE_CLICKHOUSE_URL' : 'CLICKHOUSE_URL'),
    spread: true,
    cluster: config.CLICKHOUSE_CLUSTER,
    requestTimeoutMs,
    connectionsMax,
  })
  owner.add(() => reader.close())
  return reader
}

/** Starts the counts per hour and day that the page shows. They have a connection of their own. */
function count(context: Context, { connections, registry, watch }: Parts): void {
  const { config, log, owner } = context
  const warn = createWarning(log, helpOf('counts_late'), 'the events could not be counted')
  const counts = startCounts({
    reader: createReader(context, countTimeoutMs, 1),
    store: connections.clickhouse,
    onError(error) {
      warn(error)
      // Without a reader nothing can be counted, and without a response ClickHouse is away, which
      // is another problem.
      const hasResponded = error instanceof ClickHouseError && error.code !== undefined
      if (config.PAGE_CLICKHOUSE_URL !== undefined && hasResponded) {
        watch.problems.note('counts_late', describeError(error), countsLateMs.failed)
      }
    },
    onLate(detail) {
      if (config.PAGE_CLICKHOUSE_URL !== undefined)
        watch.problems.note('counts_late', detail, countsLateMs.old)
    },
  })
  registerCountMetrics(registry, counts)
  owner.add(() => counts.close())
}

function connectObjects(
  { config, secrets, owner }: Context,
  metrics: Registry,
): ObjectStore | undefined {
  const { S3_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return undefined
  const store = createObjectStore({
    ...objectStoreSettings({ ...config, S3_ENDPOINT: endpoint }),
    endpoint: secrets.follow('S3_ENDPOINT'),
    timeoutMs: storeTimeoutMs,
  })
  owner.add(() => store.close())
  return measureObjectStore(store, { metrics })
}

function makeThumbnails(
  { log, owner }: Context,
  options: Pick<Parts, 'registry' | 'connections'> & { objects: ObjectStore },
): Thumbnails {
  const { registry, connections, objects } = options
  const thumbnails = startThumbnails({
    reader: connections.reader,
    store: connections.clickhouse,
    objects,
    metrics: registry,
    log,
    onError: createWarning(
      log,
      'docs/operations/thumbnails-late.md',
      'thumbnails could not be made; they are made later',
    ),
  })
  owner.add(() => thumbnails.close())
  return thumbnails
}

/**
 * Opens the webhooks of feedback and alerts if there is a receiver, and tells workers whether to
 * announce feedback.
 */
function openWebhooks(
  { config, log, owner }: Context,
  { registry, connections, watch }: Parts,
): void {
  const { redis, reader, onQueueError: onError } = connections
  const { problems } = watch
  const rows = webhookReceivers(config)
  const isWanted = rows.length > 0
  for (const queue of [feedbackWebhook, alertWebhook]) {
    owner.own(markDeliveries({ redis, queue, isWanted, onError }))
  }
  if (!isWanted) return
  const shared = {
    receivers: createReceivers(rows),
    pageUrl: config.PAGE_URL,
    reader,
    redis,
    log,
    count: createWebhookMetrics(registry),
    onError,
    onFailed: (detail: string) => problems.note('webhook_fails', detail),
  }
  owner.own(startAlertWebhook(shared))
  owner.own(startFeedbackWebhook(shared))
}

function evaluateAlerts(context: Context, { connections, watch }: Parts): void {
  const { log, owner } = context
  const { redis, clickhouse: store, onQueueError } = connections
  const sink = createDeliverySink({ redis, queue: alertWebhook, onError: onQueueError })
  owner.add(() => sink.close())
  const what = 'alerts could not be evaluated; their state is unknown'
  const warn = createWarning(log, helpOf('alerts_late'), what)
  function onError(error: unknown): void {
    warn(error)
    // Redis that cannot be reached is another problem.
    if (error instanceof ClickHouseError) watch.problems.note('alerts_late', describeError(error))
  }
  const alerts = createAlertStore({ redis })
  const reader = createReader(context, readTimeoutMs, 1)
  const evaluate = createAlertRun({ alerts, reader, store, sink, onError })
  async function run(): Promise<void> {
    await watch.requireSame()
    await evaluate()
  }
  owner.own(startAlerts({ redis, run, onError }))
}

async function serve(
  { config, log, owner }: Context,
  { registry, connections, watch, objects, thumbnails }: Parts,
): Promise<number> {
  const noThumbnails = () => thumbnails?.missing()
  const { reader, redis } = connections
  const { problems } = watch
  const page = createPage({
    config,
    reader,
    store: objects,
    state: createPageState({ redis, ...watch, noThumbnails }),
    log,
    onFailed: () => problems.note('page_fails', 'a view or picture could not be shown'),
  })
  const admin = await startAdminServer({
    host: config.ADMIN_HOST,
    port: config.CONSOLE_ADMIN_PORT,
    routes: adminRoutes({
      service: 'console',
      problems,
      facts: () => ({
        no_thumbnails: noThumbnails() ?? null,
        picture_decoder: thumbnails?.confinement() ?? null,
      }),
      metrics: registry,
    }),
    page,
  })
  owner.add(() => admin.close())
  return admin.port
}
