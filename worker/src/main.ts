import { createClickHouse } from '@intake/clickhouse'
import { createJobSource, defineReadBacklogs } from '@intake/queue'
import { connectRedis, createConnectionCheck, findWriteRefusal } from '@intake/redis'
import {
  ConfigError,
  createMetrics,
  limitRepeats,
  runProcess,
  startAdminServer,
} from '@intake/runtime'
import { startBacklogMonitor } from './backlog-monitor.ts'
import { WorkerConfig } from './config.ts'
import { registerBacklogMetrics } from './backlog-metrics.ts'
import { createWorkerMetrics } from './metrics.ts'
import { createPage } from './serve-page.ts'
import { startFeedbackWebhook } from './webhook/feedback-webhook.ts'
import { startWorker } from './worker.ts'

/** Of a query of the page or the webhook; ClickHouse ends it earlier by itself. */
const readTimeoutMs = 15_000
/** At once, so that they leave ClickHouse to the inserts. */
const readsMax = 6

await runProcess({
  name: 'worker',
  config: WorkerConfig,
  closeTimeoutMs: 10_000,
  async start(config, log) {
    const { FEEDBACK_WEBHOOK_URL: url, FEEDBACK_WEBHOOK_SECRET: secret } = config
    if (url !== undefined && secret === undefined) {
      throw new ConfigError('configuration: FEEDBACK_WEBHOOK_SECRET must be set')
    }
    const redis = connectRedis({
      url: config.REDIS_URL,
      role: 'consumer',
      onError: limitRepeats((err, omitted) =>
        log.warn({ err, omitted }, 'Redis connection failed'),
      ),
    })
    const redisConnection = createConnectionCheck(redis)
    const clickhouse = createClickHouse({
      url: config.CLICKHOUSE_URL,
      requestTimeoutMs: config.INSERT_TIMEOUT_MS,
    })
    const metrics = createMetrics()
    // All queues use one Redis, so its errors are reported once.
    const onError = limitRepeats((err, omitted) => log.warn({ err, omitted }, 'queue error'))
    const reader = createClickHouse({
      url: config.PAGE_CLICKHOUSE_URL ?? config.CLICKHOUSE_URL,
      requestTimeoutMs: readTimeoutMs,
      connectionsMax: readsMax,
    })
    const webhook =
      url === undefined || secret === undefined
        ? undefined
        : startFeedbackWebhook({ url, secret, reader, redis, metrics, log, onError })
    const sources = {
      logs: createJobSource({ redis, kind: 'logs', onError }),
      feedback: createJobSource({ redis, kind: 'feedback', onError }),
      outcomes: createJobSource({ redis, kind: 'outcomes', onError }),
    }
    const readBacklogs = defineReadBacklogs({ redis })
    const backlogs = startBacklogMonitor({ readBacklogs, onError })
    registerBacklogMetrics(metrics, backlogs)
    const worker = startWorker({
      sources,
      readBacklogs,
      clockSkewMaxMs: config.CLOCK_SKEW_MAX_MS,
      ...(webhook && { announceFeedback: webhook.announce }),
      store: clickhouse,
      metrics: createWorkerMetrics(metrics),
      log,
      onError,
    })
    const page = createPage({
      config,
      reader,
      backlog: (kind) => backlogs.of(kind),
      log,
    })
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.WORKER_ADMIN_PORT,
      checks: {
        redis: async () => {
          redisConnection()
          const reason = await findWriteRefusal(redis)
          if (reason !== undefined) throw new Error(reason)
        },
        clickhouse: () => clickhouse.ping(),
      },
      metrics,
      page: page.register,
    })
    log.info({ adminPort: admin.port }, 'worker is up')

    return {
      async close() {
        await worker.close()
        backlogs.close()
        await webhook?.close()
        redis.disconnect()
        await clickhouse.close()
        await admin.close()
        await reader.close()
        page.close()
      },
    }
  },
})
