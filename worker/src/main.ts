import { ClickHouseError, createClickHouse, describeError } from '@intake/clickhouse'
import { checkWorkerConfig, WorkerConfig } from '@intake/config'
import { helpOf, pollCheck, startAdminServer } from '@intake/health'
import { createJobSource, createShardedSource, defineReadBacklogs, readShards } from '@intake/queue'
import {
  connectRedis,
  createConnectionCheck,
  readInstallation,
  whileConnected,
} from '@intake/redis'
import {
  connectOnlyToOwnUser,
  createMetrics,
  limitRepeats,
  parseOwnPorts,
  runProcess,
} from '@intake/runtime'
import { startTracing } from '@intake/tracing'
import { startBacklogMonitor } from './backlog-monitor.ts'
import { registerBacklogMetrics } from './backlog-metrics.ts'
import { workerFacts, workerScaling } from './facts.ts'
import { readWhileConfirmed, startInstallationCheck, whileConfirmed } from './installation-check.ts'
import { createWorkerMetrics } from './metrics.ts'
import { startWorkerProblems, type WorkerProblems } from './problems.ts'
import { createPage } from './serve-page.ts'
import { startRedisChecks } from './redis-checks.ts'
import { openQueueUi } from './serve-queue-ui.ts'
import { startShardRecovery } from './shard-recovery.ts'
import { registerStoredStateMetrics, startStoredStateMonitor } from './stored-state.ts'
import { startFeedbackWebhook } from './webhook/feedback-webhook.ts'
import { startWorker, type Worker } from './worker.ts'

/** Of a query of the page or the webhook; ClickHouse ends it earlier by itself. */
const readTimeoutMs = 15_000
/** At once, so that they leave ClickHouse to the inserts. */
const readsMax = 6
const redisHelp = helpOf('redis_connection')
/** Of Redis and ClickHouse. */
const checks = { intervalMs: 2_000, timeoutMs: 3_000 }

await runProcess({
  name: 'worker',
  config: WorkerConfig,
  closeTimeoutMs: () => 10_000,
  async start(config, log, secrets, owner) {
    checkWorkerConfig(config)
    connectOnlyToOwnUser(parseOwnPorts(config.OWN_PORTS))
    const { FEEDBACK_WEBHOOK_URL: url, FEEDBACK_WEBHOOK_SECRET: secret } = config
    const redis = connectRedis({
      url: secrets.follow('REDIS_URL'),
      role: 'consumer',
      onError: limitRepeats((err, omitted) =>
        log.warn({ err, omitted, help: redisHelp }, 'Redis connection failed'),
      ),
    })
    const { CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_INSERT_QUORUM: quorum } = config
    const clickhouse = createClickHouse({
      url: secrets.follow('CLICKHOUSE_URL'),
      spread: true,
      cluster,
      insertQuorum: quorum === undefined || quorum === 'auto' ? quorum : Number(quorum),
      requestTimeoutMs: config.INSERT_TIMEOUT_MS,
    })
    const registry = createMetrics()
    const metrics = createWorkerMetrics(registry)
    // All queues use one Redis, so its errors are reported once.
    const onError = limitRepeats((err, omitted) =>
      log.warn({ err, omitted, help: redisHelp }, 'queue error'),
    )
    const reader = createClickHouse({
      url: secrets.follow(config.PAGE_CLICKHOUSE_URL ? 'PAGE_CLICKHOUSE_URL' : 'CLICKHOUSE_URL'),
      spread: true,
      cluster,
      requestTimeoutMs: readTimeoutMs,
      connectionsMax: readsMax,
    })
    const readBacklogs = whileConnected(redis, defineReadBacklogs({ redis }))
    const installation = startInstallationCheck({
      redis,
      readMark: whileConnected(redis, () => readInstallation(redis)),
      clickhouse,
      ...checks,
    })
    const { isConfirmed } = installation
    const backlogs = startBacklogMonitor({
      readBacklogs,
      mayTake: isConfirmed,
      onError(error) {
        // That there is no connection has its own line.
        if (redis.status === 'ready') onError(error)
      },
    })
    registerBacklogMetrics(registry, backlogs)
    const stored = startStoredStateMonitor({
      reader,
      onError: limitRepeats((err, omitted) => {
        // An outage of ClickHouse has its own line. A user who may not read them needs an operator.
        const isForOperator = err instanceof ClickHouseError && err.kind === 'operator'
        const help = helpOf('dead_letters')
        log[isForOperator ? 'warn' : 'debug'](
          { err, omitted, help },
          'dead letters and watermark could not be read',
        )
      }),
    })
    registerStoredStateMetrics(registry, stored)
    const redisChecks = startRedisChecks({ redis, ...checks })
    const shardRecovery = startShardRecovery({
      redis,
      isConfirmed,
      onError: (error) => onError(error as Error),
    })
    const pings = pollCheck({
      what: 'ClickHouse',
      check: () => clickhouse.ping(),
      describe: describeError,
      ...checks,
    })
    let worker: Worker | undefined
    const problems: WorkerProblems = startWorkerProblems({
      redisConnection: createConnectionCheck(redis),
      redisChecks,
      clickhouse: pings,
      installation,
      backlogs,
      stored,
      hasReader: config.PAGE_CLICKHOUSE_URL !== undefined,
      activity: metrics.activity,
      worker: () => worker,
      log,
      metrics: registry,
    })
    const webhook =
      url === undefined || secret === undefined
        ? undefined
        : startFeedbackWebhook({
            url,
            secret,
            reader,
            redis,
            metrics: registry,
            log,
            onError,
            onFailed: (detail) => problems.note('webhook_fails', detail),
          })
    const sources = {
      logs: createShardedSource({
        open: (shard) => createJobSource({ redis, kind: 'logs', shard, onError }),
        list: whileConnected(redis, () => readShards(redis)),
        onError,
      }),
      feedback: createJobSource({ redis, kind: 'feedback', onError }),
      outcomes: createJobSource({ redis, kind: 'outcomes', onError }),
    }
    const tracing = await startTracing({
      service: 'intake-worker',
      config,
      onError: limitRepeats((err, omitted) => {
        const help = 'docs/operations/traces-lost.md'
        log.warn({ err, omitted, help }, 'traces could not be sent')
      }),
    })
    worker = startWorker({
      sources: {
        logs: whileConfirmed(sources.logs, isConfirmed),
        feedback: whileConfirmed(sources.feedback, isConfirmed),
        outcomes: whileConfirmed(sources.outcomes, isConfirmed),
      },
      readBacklogs: readWhileConfirmed(readBacklogs, isConfirmed),
      clockSkewMaxMs: config.CLOCK_SKEW_MAX_MS,
      ...(webhook && { announceFeedback: webhook.announce }),
      store: clickhouse,
      metrics,
      problems,
      log,
      tracing,
      onError,
    })
    const page = createPage({
      config,
      secrets,
      metrics: registry,
      reader,
      backlog: (kind) => backlogs.of(kind),
      log,
      onFailed: () => problems.note('page_fails', 'a view or picture could not be shown'),
    })
    const queueUi = await openQueueUi({ config, redis, onError })
    const facts = { backlogs, activity: metrics.activity, stored }
    const admin = await startAdminServer({
      service: 'worker',
      host: config.ADMIN_HOST,
      port: config.WORKER_ADMIN_PORT,
      problems,
      facts: () => workerFacts(facts),
      scaling: () => workerScaling(facts),
      metrics: registry,
      trustProxy: config.TRUST_PROXY,
      async page(app) {
        await app.register(page.register)
        await queueUi?.register(app)
      },
    })
    log.info({ adminPort: admin.port }, 'worker is up')

    owner.add(async () => {
      await worker.close()
      problems.close()
      backlogs.close()
      stored.close()
      redisChecks.close()
      shardRecovery.close()
      pings.close()
      installation.close()
      await webhook?.close()
      await queueUi?.close()
      redis.disconnect()
      await clickhouse.close()
      await admin.close()
      await reader.close()
      page.close()
      await tracing?.close()
    })
  },
})
