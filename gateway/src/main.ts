import { createApiKeyStore, watchApiKeys } from '@intake/api-keys'
import { createObjectStore } from '@intake/object-store'
import { createPolicyStore, watchPolicy } from '@intake/policy'
import { createFrameProducer, createJobSink } from '@intake/queue'
import { connectRedis, createConnectionCheck, pollRedisState } from '@intake/redis'
import { createMetrics, limitRepeats, runProcess, startAdminServer } from '@intake/runtime'
import { createAdmission } from './admission/admission.ts'
import { buildApp } from './app.ts'
import { GatewayConfig } from './config.ts'
import { createIdempotencyStore } from './identity/idempotency-store.ts'
import { createReservationLedger } from './identity/reservation-ledger.ts'
import { defineReserve } from './identity/reserve-script.ts'
import { createGatewayMetrics } from './metrics.ts'
import { createOutcomeCounts } from './outcomes/outcome-counts.ts'
import { startOutcomeReports } from './outcomes/outcome-reports.ts'

await runProcess({
  name: 'gateway',
  config: GatewayConfig,
  closeTimeoutMs: 10_000,
  async start(config, log) {
    const redis = connectRedis({
      url: config.REDIS_URL,
      role: 'producer',
      onError: limitRepeats((err, omitted) =>
        log.warn({ err, omitted }, 'Redis connection failed'),
      ),
    })
    const redisConnection = createConnectionCheck(redis)
    /** While Redis is down its connection reports that, and only that is logged. */
    const warnWhileConnected = (message: string) => {
      const warn = limitRepeats((err, omitted) => log.warn({ err, omitted }, message))
      return (error: unknown) => {
        if (redis.status === 'ready') warn(error)
      }
    }
    const apiKeys = watchApiKeys({
      store: createApiKeyStore({ redis }),
      intervalMs: 2_000,
      // The keys that are already known remain valid.
      onError: warnWhileConnected('API keys could not be read'),
    })
    const policy = watchPolicy({
      store: createPolicyStore({ redis }),
      intervalMs: 2_000,
      // The policy that is already known remains valid.
      onError: warnWhileConnected('the policy could not be read'),
    })
    const redisPoll = pollRedisState({
      redis,
      intervalMs: 1_000,
      onDurabilityViolations: (violations) =>
        log.error(
          { violations, help: 'docs/operations/redis-could-lose-records.md' },
          'Redis could lose accepted records',
        ),
      onWriteRefusal(reason) {
        if (reason === undefined) return log.info('Redis takes writes again')
        log.error({ reason, help: 'docs/operations/redis-connection.md' }, 'Redis takes no writes')
      },
      onError: warnWhileConnected('Redis could not be polled'),
    })
    const attachments = createObjectStore({
      endpoint: config.S3_ENDPOINT,
      bucket: config.S3_BUCKET,
      region: config.S3_REGION,
      timeoutMs: config.STORAGE_TIMEOUT_MS,
    })
    const sinks = {
      logs: createJobSink({ redis, kind: 'logs' }),
      feedback: createJobSink({ redis, kind: 'feedback' }),
      outcomes: createJobSink({ redis, kind: 'outcomes' }),
    }
    const queues = {
      logs: createFrameProducer({ sink: sinks.logs }),
      feedback: createFrameProducer({ sink: sinks.feedback }),
    }
    const admission = createAdmission({
      state: redisPoll.state,
      strict: config.REDIS_DURABILITY === 'strict',
      clockSkewMaxMs: config.CLOCK_SKEW_MAX_MS,
      onClockSkew(reason) {
        if (reason === undefined) return log.info('the clock of this gateway is right again')
        log.error({ help: 'docs/operations/clock-skew.md' }, reason)
      },
    })
    const checks = {
      redis: redisConnection,
      queue: () => failWith(admission.refusal()),
      clock: () => failWith(admission.clockSkew()),
      'api-keys': () => {
        if (!apiKeys.isLoaded()) throw new Error('not read yet')
      },
      policy: () => {
        if (!policy.isLoaded()) throw new Error('not read yet')
      },
    }

    const ledger = createReservationLedger({
      redis,
      memoryBytes: () => redisPoll.state()?.memoryBytesMax,
      shares: {
        logs: config.RESERVATIONS_LOGS_SHARE,
        feedback: config.RESERVATIONS_FEEDBACK_SHARE,
      },
      onError: warnWhileConnected('the reservations could not be read'),
    })

    const outcomes = createOutcomeCounts()
    const outcomeReports = startOutcomeReports({
      counts: outcomes,
      producer: createFrameProducer({ sink: sinks.outcomes }),
      onError: warnWhileConnected('the counts of outcomes could not be sent; they are kept'),
      onLost: (err, records) =>
        log.error(
          { err, records },
          'the last counts of outcomes could not be sent: so many records may be missing',
        ),
    })

    const degradations = () => ledger.full()

    const registry = createMetrics()
    const metrics = createGatewayMetrics(registry)
    const ports = {
      apiKeys: {
        // Without the policy a suppressed sender would be stored.
        isLoaded: () => apiKeys.isLoaded() && policy.isLoaded(),
        find: (secret: string) => apiKeys.find(secret),
      },
      attachments,
      policy,
      queues,
      idempotency: createIdempotencyStore({ reserve: defineReserve(redis), ledger }),
    }

    const app = await buildApp({
      config,
      ports,
      admission,
      checks,
      degradations,
      metrics,
      outcomes,
      log,
    })
    await app.listen({ host: config.HOST, port: config.PORT })
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.GATEWAY_ADMIN_PORT,
      checks,
      degradations,
      metrics: registry,
    })
    log.info({ adminPort: admin.port }, 'gateway is up')

    return {
      async close() {
        await app.close()
        // No outcome can follow.
        await outcomeReports.close()
        apiKeys.close()
        policy.close()
        redisPoll.close()
        ledger.close()
        await Promise.all(Object.values(sinks).map((sink) => sink.close()))
        redis.disconnect()
        attachments.close()
        await admin.close()
      },
    }
  },
})

function failWith(reason: string | undefined): void {
  if (reason !== undefined) throw new Error(reason)
}
