import { createApiKeyStore, watchApiKeys } from '@intake/api-keys'
import { checkGatewayConfig, GatewayConfig, objectStoreSettings } from '@intake/config'
import { helpOf, pollCheck, startAdminServer } from '@intake/health'
import { reservationTags } from '@intake/identity'
import { createObjectStore, describeStoreError, measureObjectStore } from '@intake/object-store'
import { createPolicyStore, watchPolicy } from '@intake/policy'
import {
  createFrameProducer,
  createJobSink,
  createShardRouter,
  shardPrefix,
  startShardHealth,
} from '@intake/queue'
import { connectRedis, createConnectionCheck, pollRedisState } from '@intake/redis'
import { createMetrics, limitRepeats, pause, runProcess } from '@intake/runtime'
import { startTracing } from '@intake/tracing'
import { createAdmission } from './admission/admission.ts'
import { startFleetRate } from './admission/fleet-rate.ts'
import { createRateCounts } from './admission/rate-counts.ts'
import { buildApp } from './app.ts'
import { createIdempotencyStore } from './identity/idempotency-store.ts'
import { createReservationLedger } from './identity/reservation-ledger.ts'
import { createGatewayMetrics } from './report/metrics.ts'
import { gatewayFacts, gatewayNotes, gatewayScaling } from './report/facts.ts'
import { createOutcomeCounts } from './report/outcome-counts.ts'
import { startOutcomeReports } from './report/outcome-reports.ts'
import { startGatewayProblems } from './report/problems.ts'
import { openRecordConnections } from './commit/record-connections.ts'
import { registerRedisMetrics } from './report/state-metrics.ts'

const minute = 60_000
const redisHelp = helpOf('redis_connection')
const lostHelp = helpOf('redis_lost_its_data')

await runProcess({
  name: 'gateway',
  config: GatewayConfig,
  closeTimeoutMs: ({ DRAIN_MS }) => DRAIN_MS + 10_000,
  async start(config, log, secrets, owner) {
    checkGatewayConfig(config)
    const onRedisError = limitRepeats((err, omitted) =>
      log.warn({ err, omitted, help: redisHelp }, 'Redis connection failed'),
    )
    const redis = connectRedis({
      url: secrets.follow('REDIS_URL'),
      role: 'producer',
      onError: onRedisError,
    })
    if (config.REDIS_DURABILITY === 'asserted') {
      const help = helpOf('redis_could_lose_records')
      log.info({ help }, 'settings that Redis does not let be read are taken for right')
    }
    const redisConnection = createConnectionCheck(redis)
    /** While Redis is down its connection reports that, and only that is logged. */
    const warnWhileConnected = (message: string) => {
      const warn = limitRepeats((err, omitted) =>
        log.warn({ err, omitted, help: redisHelp }, message),
      )
      return (error: unknown) => {
        if (redis.status === 'ready') warn(error)
      }
    }
    /** Such an entry harms only what it is for. Its name says nothing of its content. */
    const warnOfUnreadable = (what: string) => {
      const warn = limitRepeats((err, omitted) => log.warn({ err, omitted, help: lostHelp }, what))
      return (names: string[]) => warn(new Error(names.join(', ')))
    }
    const apiKeys = watchApiKeys({
      store: createApiKeyStore({ redis }),
      intervalMs: 2_000,
      // The keys that are already known remain valid.
      onError: warnWhileConnected('API keys could not be read'),
      onUnreadable: warnOfUnreadable('the entries of some API keys cannot be read'),
    })
    const policy = watchPolicy({
      store: createPolicyStore({ redis }),
      intervalMs: 2_000,
      // The policy that is already known remains valid.
      onError: warnWhileConnected('the policy could not be read'),
      onUnreadable: warnOfUnreadable('a part of the retention cannot be read'),
    })
    const shardNumbers = Array.from({ length: config.QUEUE_SHARDS }, (_, shard) => shard)
    const redisPoll = pollRedisState({
      redis,
      tags: [...reservationTags, ...shardNumbers.map(shardPrefix)],
      replicasMin: config.REDIS_ACK_REPLICAS,
      assertsDurability: config.REDIS_DURABILITY === 'asserted',
      intervalMs: 1_000,
      onError: warnWhileConnected('Redis could not be polled'),
    })
    const store = createObjectStore({
      ...objectStoreSettings(config),
      endpoint: secrets.follow('S3_ENDPOINT'),
      timeoutMs: config.STORAGE_TIMEOUT_MS,
    })
    const bucket = pollCheck({
      what: 'the object store',
      check: () => store.checkBucket(),
      describe: describeStoreError,
      intervalMs: 3_000,
      timeoutMs: 5_000,
    })
    const recordConnections = openRecordConnections({
      redis,
      url: secrets.follow('REDIS_URL'),
      replicas: config.REDIS_ACK_REPLICAS,
      tags: shardNumbers.map(shardPrefix),
      refusalOf: redisPoll.refusalOf,
      onError: onRedisError,
    })
    const shards = startShardHealth({
      redis,
      shards: config.QUEUE_SHARDS,
      onError: warnWhileConnected(
        'a shard of the queue cannot be reached; the others get its frames',
      ),
    })
    const isShardUsable = (shard: number) =>
      shards.isUsable(shard) && redisPoll.refusalOf(shardPrefix(shard)) === undefined
    const sinks = {
      logs: shardNumbers.map((shard) =>
        createJobSink({ ...recordConnections.logs, kind: 'logs', shard }),
      ),
      feedback: createJobSink({ ...recordConnections.feedback, kind: 'feedback' }),
      outcomes: createJobSink({ ...recordConnections.outcomes, kind: 'outcomes' }),
    }
    const route = createShardRouter({ sinks: sinks.logs, isUsable: isShardUsable })
    const queues = {
      logs: createFrameProducer({ route }),
      feedback: createFrameProducer({ sink: sinks.feedback }),
    }
    const admission = createAdmission({
      state: redisPoll.state,
      lostShards: shards.lost,
      strict: config.REDIS_DURABILITY !== 'relaxed',
      clockSkewMaxMs: config.CLOCK_SKEW_MAX_MS,
    })
    const ledger = createReservationLedger({
      redis,
      memoryBytes: () => redisPoll.state()?.memoryBytesMax,
      shares: {
        logs: config.RESERVATIONS_LOGS_SHARE,
        feedback: config.RESERVATIONS_FEEDBACK_SHARE,
      },
      onError: warnWhileConnected('the reservations could not be read'),
    })

    const window = { windowMs: config.RATE_LIMIT_WINDOW_MS }
    const rate = startFleetRate({
      counts: createRateCounts({ redis, ...window }),
      max: config.RATE_LIMIT_MAX,
      ...window,
      onError: warnWhileConnected(
        'the rates of API keys could not be shared; each gateway counts its own',
      ),
    })

    const outcomes = createOutcomeCounts()
    const outcomeReports = startOutcomeReports({
      counts: outcomes,
      producer: createFrameProducer({ sink: sinks.outcomes }),
      onError: warnWhileConnected('the counts of outcomes could not be sent; they are kept'),
      onLost: (err, records) =>
        log.error(
          { err, records, help: redisHelp },
          'the last counts of outcomes could not be sent: so many records may be missing',
        ),
    })

    const tracing = await startTracing({
      service: 'intake-gateway',
      config,
      onError: limitRepeats((err, omitted) => {
        const help = 'docs/operations/traces-lost.md'
        log.warn({ err, omitted, help }, 'traces could not be sent')
      }),
    })

    const registry = createMetrics()
    const metrics = createGatewayMetrics(registry)
    registerRedisMetrics(registry, { state: redisPoll.state, ledger })
    const problems = startGatewayProblems({
      redisConnection,
      redisPoll,
      admission,
      ledger,
      apiKeys,
      policy,
      bucket,
      isStrict: config.REDIS_DURABILITY !== 'relaxed',
      log,
      metrics: registry,
    })
    const attachments = measureObjectStore(store, {
      metrics: registry,
      onFailed(operation) {
        if (operation === 'put')
          problems.note('object_store', 'attachments were not stored', minute)
        else problems.note('attachments_left', 'attachments could not be removed')
      },
    })
    const ports = {
      apiKeys: {
        // Without the policy a suppressed sender would be stored.
        isLoaded: () => apiKeys.isLoaded() && policy.isLoaded(),
        find: (secret: string) => apiKeys.find(secret),
      },
      attachments,
      policy,
      rate,
      queues,
      idempotency: createIdempotencyStore({
        reserve: recordConnections.reserve,
        ledger,
      }),
    }

    let isDraining = false
    const { app, connections } = await buildApp({
      config,
      ports,
      admission,
      problems,
      isDraining: () => isDraining,
      metrics,
      registry,
      outcomes,
      log,
      tracing,
    })
    await app.listen({ host: config.HOST, port: config.PORT })
    const sources = {
      metrics,
      connections,
      connectionsMax: config.CONNECTIONS_MAX,
      redisState: redisPoll.state,
      ledger,
      isShardUsable,
      shardCount: config.QUEUE_SHARDS,
    }
    const admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.GATEWAY_ADMIN_PORT,
      service: 'gateway',
      problems,
      isDraining: () => isDraining,
      notes: () => gatewayNotes(sources),
      facts: () => gatewayFacts(sources),
      scaling: () => gatewayScaling(sources),
      metrics: registry,
    })
    log.info({ adminPort: admin.port }, 'gateway is up')

    owner.add(async () => {
      isDraining = true
      if (config.DRAIN_MS > 0) await pause(config.DRAIN_MS)
      await app.close()
      // No outcome can follow.
      await outcomeReports.close()
      apiKeys.close()
      policy.close()
      redisPoll.close()
      shards.close()
      ledger.close()
      rate.close()
      problems.close()
      bucket.close()
      await Promise.all(
        Object.values(sinks)
          .flat()
          .map((sink) => sink.close()),
      )
      recordConnections.close()
      redis.disconnect()
      store.close()
      await admin.close()
      await tracing?.close()
    })
  },
})
