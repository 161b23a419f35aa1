import { createApiKeyStore, watchApiKeys } from '@intake/api-keys'
import { createObjectStore } from '@intake/object-store'
import { createFrameProducer } from '@intake/queue'
import { connectRedis } from '@intake/redis'
import { createMetrics, runProcess, startAdminServer } from '@intake/runtime'
import { buildApp } from './app.ts'
import { GatewayConfig } from './config.ts'
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
    const checks = {
      redis: () => {
        if (redis.status !== 'ready') throw new Error('not connected')
      },
      'api-keys': () => {
        if (!apiKeys.isLoaded()) throw new Error('not read yet')
      },
    }

    const registry = createMetrics()
    const metrics = createGatewayMetrics(registry)
    const ports = { apiKeys, attachments, queues }

    const app = await buildApp({ config, ports, checks, metrics, log })
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
        await Promise.all([queues.logs.close(), queues.feedback.close()])
        redis.disconnect()
        attachments.close()
        await admin.close()
      },
    }
  },
})
