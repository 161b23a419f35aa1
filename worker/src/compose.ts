import { createClickHouse } from '@intake/clickhouse'
import type { WorkerConfig } from '@intake/config'
import { adminRoutes } from '@intake/health'
import { helpOf } from '@intake/health/problem-catalogue'
import { startAdminServer } from '@intake/http-edge'
import { readShards, type QueueName } from '@intake/queue'
import { createJobSource, createShardedSource } from '@intake/queue/consume'
import { connectRedis, whileConnected } from '@intake/redis'
import {
  createMetrics,
  createWarning,
  type ProcessContext,
  type Registry,
} from '@intake/runtime/process'
import { startTracing } from '@intake/tracing'
import { createFeedbackAnnouncer } from './deliver/announce-feedback.ts'
import { createRefusalRuns } from './deliver/refusal-run.ts'
import { startWorker } from './deliver/worker.ts'
import { workerFacts, workerScaling } from './watch/facts.ts'
import { whileConfirmed } from './watch/installation-check.ts'
import { startWatch, type Watch } from './watch/watch.ts'

type Context = ProcessContext<typeof WorkerConfig>

const redisHelp = helpOf('redis_connection')

/** The owner closes in reverse order: first the loops, then the admin port, then connections. */
export async function compose(context: Context): Promise<void> {
  const { config, log, owner } = context
  const tracing = await startTracing({ service: 'intake-worker', config, log })
  owner.add(() => tracing?.close())
  const registry = createMetrics()
  const connections = connect(context)
  const refusals = createRefusalRuns()
  const watch = startWatch({ ...context, ...connections, registry, refusals })
  const { redis, onQueueError: onError } = connections
  const announcer = owner.own(
    createFeedbackAnnouncer({
      redis,
      log,
      onError,
      onFailed: (detail) => watch.problems.note('webhook_fails', detail),
    }),
  )
  const adminPort = await serve(context, { registry, watch })
  const { isConfirmed } = watch.installation
  const open = (kind: QueueName, shard?: number) => createJobSource({ redis, kind, shard, onError })
  // Only in a Redis Cluster does the log queue have several shards.
  const logs = redis.isCluster
    ? createShardedSource({
        open: (shard) => open('logs', shard),
        list: whileConnected(redis, () => readShards(redis)),
        onError,
      })
    : open('logs')
  const worker = startWorker({
    sources: {
      logs: whileConfirmed(logs, isConfirmed),
      feedback: whileConfirmed(open('feedback'), isConfirmed),
      outcomes: whileConfirmed(open('outcomes'), isConfirmed),
    },
    store: connections.clickhouse,
    announceFeedback: announcer.announce,
    events: watch.events,
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
    onError: createWarning(log, redisHelp, 'Redis connection failed'),
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
  // Shared by all queues of one Redis, so that an outage is logged once, not once per queue.
  const onQueueError = createWarning(log, redisHelp, 'queue error')
  return { redis, clickhouse, onQueueError }
}

/** Serves the admin port; resolves to the port number. */
async function serve(
  { config, owner }: Context,
  { registry, watch }: { registry: Registry; watch: Watch },
): Promise<number> {
  const { problems, backlogs, stored } = watch
  const facts = { backlogs, activity: watch.metrics.activity, stored }
  const admin = await startAdminServer({
    host: config.ADMIN_HOST,
    port: config.WORKER_ADMIN_PORT,
    routes: adminRoutes({
      service: 'worker',
      problems,
      facts: () => workerFacts(facts),
      scaling: () => workerScaling(facts),
      metrics: registry,
    }),
  })
  owner.add(() => admin.close())
  return admin.port
}
