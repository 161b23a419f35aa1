import { ClickHouseError, createClickHouse, describeError } from '@intake/clickhouse'
import { checkWorkerConfig, objectStoreSettings, type WorkerConfig } from '@intake/config'
import { startAdminServer } from '@intake/health'
import { helpOf } from '@intake/health/problem-catalogue'
import { createObjectStore, measureObjectStore, type ObjectStore } from '@intake/object-store'
import { readShards } from '@intake/queue'
import { createJobSource, createShardedSource } from '@intake/queue/consume'
import { connectRedis, whileConnected } from '@intake/redis'
import { limitRepeats, type Owner } from '@intake/runtime'
import { createMetrics, type Logger, type Registry, type Secrets } from '@intake/runtime/process'
import { startTracing } from '@intake/tracing'
import { createPageState } from './admin/page-state.ts'
import { createPage } from './admin/page.ts'
import { createRefusalRuns } from './deliver/refusal-run.ts'
import { startWorker } from './deliver/worker.ts'
import { startThumbnails, type Thumbnails } from './thumbnails/thumbnails.ts'
import { workerFacts, workerScaling } from './watch/facts.ts'
import { whileConfirmed } from './watch/installation-check.ts'
import { registerCountMetrics, startCounts } from './watch/counts.ts'
import { startWatch, type Watch } from './watch/watch.ts'
import { startFeedbackWebhook } from './webhook/feedback-webhook.ts'
import { createBodyWriter } from './webhook/forms/index.ts'

export interface Context {
  config: WorkerConfig
  log: Logger
  secrets: Secrets<typeof WorkerConfig>
  owner: Owner
}

type Connections = ReturnType<typeof connect>

/**
 * Timeout for a query of the page or the webhook. ClickHouse cancels the query earlier by itself.
 */
const readTimeoutMs = 15_000
/** Timeout for a statement that counts records. ClickHouse cancels it earlier by itself. */
const countTimeoutMs = 120_000
/** For so long the problem `counts_late` is shown after a failure; hours are counted every minute. */
const countsLateMs = 5 * 60_000
/** Timeout for reading or storing an object, with retries. */
const storeTimeoutMs = 20_000
/**
 * The maximum number of concurrent reads. It is low, so that inserts get most of ClickHouse's
 * capacity.
 */
const readsMax = 6
const redisHelp = helpOf('redis_connection')

/**
 * Starts the worker. The owner closes the parts in reverse order: first the loops finish, then the
 * admin port closes, then the connections.
 */
export async function compose(context: Context): Promise<void> {
  const { config, log, owner } = context
  checkWorkerConfig(config)
  const tracing = await startTracing({
    service: 'intake-worker',
    config,
    onError: limitRepeats((err, omitted) => {
      const help = 'docs/operations/problems.md#traces_lost'
      log.warn({ err, omitted, help }, 'traces could not be sent')
    }),
  })
  owner.add(() => tracing?.close())
  const registry = createMetrics()
  const connections = connect(context)
  const refusals = createRefusalRuns()
  const watch = startWatch({ ...context, ...connections, registry, refusals })
  const webhook = openWebhook(context, { registry, connections, watch })
  count(context, { connections, registry, watch })
  const objects = connectObjects(context, registry)
  const thumbnails = objects && makeThumbnails(context, { registry, connections, objects })
  const adminPort = await serve(context, { registry, connections, watch, objects, thumbnails })
  const { redis, onQueueError: onError } = connections
  const { isConfirmed } = watch.installation
  const logs = createShardedSource({
    open: (shard) => createJobSource({ redis, kind: 'logs', shard, onError }),
    list: whileConnected(redis, () => readShards(redis)),
    onError,
  })
  const feedback = createJobSource({ redis, kind: 'feedback', onError })
  const outcomes = createJobSource({ redis, kind: 'outcomes', onError })
  const worker = startWorker({
    sources: {
      logs: whileConfirmed(logs, isConfirmed),
      feedback: whileConfirmed(feedback, isConfirmed),
      outcomes: whileConfirmed(outcomes, isConfirmed),
    },
    store: connections.clickhouse,
    announceFeedback: webhook?.announce,
    events: {
      ...watch.metrics,
      visible(kind, frame) {
        watch.metrics.visible(kind, frame)
        if (kind === 'feedback') thumbnails?.arrived(frame.receivedAtMs)
      },
    },
    refusals,
    note: watch.problems.note,
    log,
    tracing,
    onError,
  })
  owner.add(() => worker.close())
  log.info({ adminPort }, 'worker is up')
}

function connect({ config, log, secrets, owner }: Context) {
  const redis = connectRedis({
    url: secrets.follow('REDIS_URL'),
    role: 'consumer',
    onError: limitRepeats((err, omitted) =>
      log.warn({ err, omitted, help: redisHelp }, 'Redis connection failed'),
    ),
  })
  owner.add(() => redis.disconnect())
  const { CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_INSERT_QUORUM: quorum } = config
  const clickhouse = createClickHouse({
    url: secrets.follow('CLICKHOUSE_URL'),
    spread: true,
    cluster,
    insertQuorum: quorum === undefined || quorum === 'auto' ? quorum : Number(quorum),
    requestTimeoutMs: config.INSERT_TIMEOUT_MS,
  })
  owner.add(() => clickhouse.close())
  /** The client that reads what the page shows and the webhook sends. */
  const reader = createClickHouse({
    url: secrets.follow(config.PAGE_CLICKHOUSE_URL ? 'PAGE_CLICKHOUSE_URL' : 'CLICKHOUSE_URL'),
    spread: true,
    cluster,
    requestTimeoutMs: readTimeoutMs,
    connectionsMax: readsMax,
  })
  owner.add(() => reader.close())
  // All queues use the same Redis, and share the function that logs its errors. So an outage is
  // logged once, not once per queue.
  const onQueueError = limitRepeats((err, omitted) =>
    log.warn({ err, omitted, help: redisHelp }, 'queue error'),
  )
  return { redis, clickhouse, reader, onQueueError }
}

/** Starts the counts per hour and day that the page shows. They have a connection of their own. */
function count(
  { config, log, secrets, owner }: Context,
  { connections, registry, watch }: { connections: Connections; registry: Registry; watch: Watch },
): void {
  const reader = createClickHouse({
    url: secrets.follow(config.PAGE_CLICKHOUSE_URL ? 'PAGE_CLICKHOUSE_URL' : 'CLICKHOUSE_URL'),
    spread: true,
    cluster: config.CLICKHOUSE_CLUSTER,
    requestTimeoutMs: countTimeoutMs,
    connectionsMax: 1,
  })
  owner.add(() => reader.close())
  const warn = limitRepeats((err, omitted) => {
    log.warn({ err, omitted, help: helpOf('counts_late') }, 'the events could not be counted')
  })
  const counts = startCounts({
    reader,
    store: connections.clickhouse,
    onError(error) {
      warn(error)
      // Without a reader nothing can be counted, and without a response ClickHouse is away, which
      // is another problem.
      const hasResponded = error instanceof ClickHouseError && error.code !== undefined
      if (config.PAGE_CLICKHOUSE_URL !== undefined && hasResponded) {
        watch.problems.note('counts_late', describeError(error), countsLateMs)
      }
    },
  })
  registerCountMetrics(registry, counts)
  owner.add(() => counts.close())
}

/** Connects to the object store; undefined if none is configured. */
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
  options: { registry: Registry; connections: Connections; objects: ObjectStore },
): Thumbnails {
  const { registry, connections, objects } = options
  const thumbnails = startThumbnails({
    reader: connections.reader,
    store: connections.clickhouse,
    objects,
    metrics: registry,
    log,
    onError: limitRepeats((err, omitted) => {
      const help = 'docs/operations/thumbnails-late.md'
      log.warn({ err, omitted, help }, 'thumbnails could not be made; they are made later')
    }),
  })
  owner.add(() => thumbnails.close())
  return thumbnails
}

interface Parts {
  registry: Registry
  connections: Connections
  watch: Watch
}

/** Opens the webhook; undefined if none is configured. */
function openWebhook({ config, log, owner }: Context, { registry, connections, watch }: Parts) {
  const { FEEDBACK_WEBHOOK_URL: url, FEEDBACK_WEBHOOK_SECRET: secret } = config
  const { FEEDBACK_WEBHOOK_TOKEN: token, FEEDBACK_WEBHOOK_EMAIL: email } = config
  if (url === undefined || secret === undefined) return undefined
  const { redis, reader, onQueueError } = connections
  const webhook = startFeedbackWebhook({
    url,
    secret,
    token,
    writeBody: createBodyWriter({
      form: config.FEEDBACK_WEBHOOK_FORM,
      showsEmail: email === undefined ? undefined : email === 'show',
      pageUrl: config.PAGE_URL,
    }),
    reader,
    redis,
    metrics: registry,
    log,
    onError: onQueueError,
    onFailed: (detail) => watch.problems.note('webhook_fails', detail),
  })
  owner.add(() => webhook.close())
  return webhook
}

/** Serves the admin port with the page; resolves to the port number. */
async function serve(
  { config, log, owner }: Context,
  parts: Parts & { objects: ObjectStore | undefined; thumbnails: Thumbnails | undefined },
): Promise<number> {
  const { registry, connections, watch, objects, thumbnails } = parts
  const noThumbnails = () => thumbnails?.missing()
  const { reader, redis } = connections
  const { problems, backlogs, stored } = watch
  const page = createPage({
    config,
    reader,
    store: objects,
    state: createPageState({ redis, backlogs, stored, problems, noThumbnails }),
    log,
    onFailed: () => problems.note('page_fails', 'a view or picture could not be shown'),
  })
  const decoderConfinement = () => thumbnails?.confinement()
  const { activity } = watch.metrics
  const facts = { backlogs, activity, stored, noThumbnails, decoderConfinement }
  const admin = await startAdminServer({
    service: 'worker',
    host: config.ADMIN_HOST,
    port: config.WORKER_ADMIN_PORT,
    problems,
    facts: () => workerFacts(facts),
    scaling: () => workerScaling(facts),
    metrics: registry,
    page,
  })
  owner.add(() => admin.close())
  return admin.port
}
