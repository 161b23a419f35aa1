import { createApiKeyStore, watchApiKeys } from '@intake/api-keys'
import { createObjectStore } from '@intake/object-store'
import { createFrameProducer } from '@intake/queue'
import { connectRedis, watchRedis } from '@intake/redis'
import { createMetrics, runProcess, startAdminServer } from '@intake/runtime'
import { createAdmission } from './admission.ts'
import { buildApp } from './app.ts'
import { GatewayConfig } from './config.ts'
import { createReservations } from './idempotency.ts'
import { createGatewayMetrics } from './metrics.ts'

await runProcess({
  name: 'gateway',
  config: GatewayConfig,
  closeDeadlineMs: 10_000,
  async start(config, log) {
    const redis = connectRedis({
      url: config.REDIS_URL,
      role: 'producer',
      onError: (err) => log.warn({ err }, 'Redis connection failed'),
    })
    const apiKeys = watchApiKeys({
      store: createApiKeyStore({ redis }),
      intervalMs: 2_000,
      // While Redis is away its connection reports that; the known keys stay in force.
      onError: (err) => redis.status === 'ready' && log.warn({ err }, 'API keys could not be read'),
    })
    const redisWatch = watchRedis({
      redis,
      intervalMs: 1_000,
      onHazards: (hazards) =>
        log.error(
          { hazards, help: 'docs/operations/redis-could-lose-records.md' },
          'Redis could lose accepted records',
        ),
      onError: (err) => redis.status === 'ready' && log.warn({ err }, 'Redis could not be checked'),
    })
    const attachments = createObjectStore({
      endpoint: config.S3_ENDPOINT,
      bucket: config.S3_BUCKET,
      region: config.S3_REGION,
      deadlineMs: config.STORAGE_DEADLINE_MS,
    })
    const queues = {
      logs: createFrameProducer({ redis, kind: 'logs' }),
      feedback: createFrameProducer({ redis, kind: 'feedback' }),
    }
    const admission = createAdmission({
      state: redisWatch.state,
      strict: config.REDIS_DURABILITY === 'strict',
    })
    const checks = {
      redis: () => {
        if (redis.status !== 'ready') throw new Error('not connected')
      },
      queue: () => {
        const reason = admission.refusal()
        if (reason !== undefined) throw new Error(reason)
      },
      'api-keys': () => {
        if (!apiKeys.isLoaded()) throw new Error('not read yet')
      },
    }

    const registry = createMetrics()
    const metrics = createGatewayMetrics(registry)
    const ports = {
      apiKeys,
      attachments,
      queues,
      reservations: createReservations({ redis }),
    }

    const app = await buildApp({ config, ports, admission, checks, metrics, log })
    await app.listen({ host: config.HOST, port: config.PORT })
    const admin = await startAdminServer({
      host: config.HOST,
      port: config.GATEWAY_ADMIN_PORT,
      checks,
      metrics: registry,
    })
    log.info({ adminPort: admin.port }, 'gateway is up')

    return {
      async close() {
        await app.close()
        apiKeys.close()
        redisWatch.close()
        await Promise.all([queues.logs.close(), queues.feedback.close()])
        redis.disconnect()
        attachments.close()
        await admin.close()
      },
    }
  },
})
