import { createClickHouse } from '@intake/clickhouse'
import { createJobSource, definePendingRecords } from '@intake/queue'
import { connectRedis, createConnectionCheck, findWriteRefusal } from '@intake/redis'
import { createMetrics, limitRepeats, runProcess, startAdminServer } from '@intake/runtime'
import { WorkerConfig } from './config.ts'
import { createWorkerMetrics } from './metrics.ts'
import { watermarkIntervalMs } from './watermark.ts'
import { startWorker } from './worker.ts'

await runProcess({
  name: 'worker',
  config: WorkerConfig,
  closeTimeoutMs: 10_000,
  async start(config, log) {
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
    const worker = startWorker({
      sources: {
        logs: createJobSource({ redis, kind: 'logs', onError }),
        feedback: createJobSource({ redis, kind: 'feedback', onError }),
        outcomes: createJobSource({ redis, kind: 'outcomes', onError }),
      },
      // A turn that expires a little earlier than the next read leaves none out.
      readPending: definePendingRecords({ redis, turnMs: 0.8 * watermarkIntervalMs }),
      clockSkewMaxMs: config.CLOCK_SKEW_MAX_MS,
      store: clickhouse,
      metrics: createWorkerMetrics(metrics),
      log,
      onError,
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
    })
    log.info({ adminPort: admin.port }, 'worker is up')

    return {
      async close() {
        await worker.close()
        redis.disconnect()
        await clickhouse.close()
        await admin.close()
      },
    }
  },
})
