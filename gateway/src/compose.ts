import type { FastifyInstance } from 'fastify'
import { createApiKeyStore, createPolicyStore, watchApiKeys, watchPolicy } from '@intake/access'
import { digestShared, GatewayConfig, objectStoreSettings, publicUrlOf } from '@intake/config'
import { limits } from '@intake/contract'
import { adminRoutes, pollCheck } from '@intake/health'
import { startAdminServer } from '@intake/http-edge'
import { helpOf } from '@intake/health/problem-catalogue'
import { reservationTags, createIdempotencyStore, createReservationLedger } from '@intake/identity'
import {
  createObjectStore,
  describeStoreError,
  measureObjectStore,
  type ObjectStore,
} from '@intake/object-store'
import { readOldestQueued, shardPrefix, startShardHealth, type QueueName } from '@intake/queue'
import { createFrameProducer, createJobSink, createShardedProducer } from '@intake/queue/produce'
import {
  connectRedis,
  createConnectionCheck,
  pollRedisState,
  reportWhileConnected,
  startPresence,
} from '@intake/redis'
import { systemClock } from '@intake/runtime'
import {
  createMetrics,
  createWarning,
  type ProcessContext,
  type Registry,
} from '@intake/runtime/process'
import { startTracing } from '@intake/tracing'
import { createAdmission } from './admission/admission.ts'
import { KeyLimiter } from './admission/key-limits.ts'
import { startFleetCounters } from './admission/fleet-counters.ts'
import { startQueueShares } from './admission/queue-shares.ts'
import { createSharedCounts } from './admission/shared-counts.ts'
import { buildApp } from './app.ts'
import { openRecordConnections } from './commit/record-connections.ts'
import { createFairReservations } from './identity/fair-reservations.ts'
import { gatewayStatus } from './report/facts.ts'
import { createGatewayMetrics } from './report/metrics.ts'
import { OutcomeCounts } from './report/outcome-counts.ts'
import { startOutcomeReports } from './report/outcome-reports.ts'
import { startGatewayProblems, type GatewayProblems } from './report/problems.ts'
import { registerRedisMetrics } from './report/state-metrics.ts'

const minute = 60_000
const redisHelp = helpOf('redis_connection')

type Process = ProcessContext<typeof GatewayConfig>

interface Gateway {
  app: FastifyInstance
  startAdmin: () => Promise<{ port: number }>
  problems: Pick<GatewayProblems, 'present'>
  /** From now on connections close with their next response, and health checks say `draining`. */
  leave: () => void
}

export async function compose(gateway: Process): Promise<Gateway> {
  const { config, log, owner } = gateway
  const { own } = owner
  let hasLeft = false
  const isDraining = () => hasLeft
  const openAdmin = prepareAdmin(gateway)
  const tracing = await startTracing({ service: 'intake-gateway', config, log })
  owner.add(() => tracing?.close())

  const { objects, bucket } = openObjectStore(gateway)
  const redis = openRedis(gateway)
  const queues = openQueues(gateway, redis)
  const { redisPoll, ledger, shards } = queues
  const access = watchAccess(gateway, redis, queues)
  const { apiKeys, policy, limiter, queueShares } = access
  const outcomeCounts = new OutcomeCounts()
  reportToOthers(gateway, redis, { counts: outcomeCounts, producer: queues.outcomes })

  const registry = createMetrics()
  const metrics = createGatewayMetrics(registry)
  registerRedisMetrics(registry, { state: redisPoll.state, ledger })
  const isStrict = config.REDIS_DURABILITY !== 'relaxed'
  const admission = createAdmission({
    state: redisPoll.state,
    ...(shards && { lostShards: shards.lost }),
    overShare: queueShares.over,
    isStrict,
  })
  const problems = own(
    startGatewayProblems({
      redisConnection: createConnectionCheck(redis.client),
      redisPoll,
      admission,
      ledger,
      ...access,
      bucket,
      isStrict,
      log,
      metrics: registry,
    }),
  )
  const attachments = measureAttachments(objects, registry, problems)
  const { app, connections } = await buildApp({
    config,
    ports: { apiKeys, policy, limiter, ...queues.ports, attachments },
    admission,
    problems,
    isDraining,
    metrics,
    registry,
    outcomeCounts,
    queueShares,
    log,
    tracing,
  })
  const sources = {
    metrics,
    connections,
    connectionsMax: config.CONNECTIONS_MAX,
    redisState: redisPoll.state,
    ledger,
    activeRules: () => policy.rules().active,
    queueShards: () => ({ count: config.QUEUE_SHARDS, unused: shards?.unused() ?? [] }),
  }
  const about = { service: 'gateway', problems, metrics: registry, isDraining }
  const startAdmin = () => openAdmin(adminRoutes({ ...about, ...gatewayStatus(sources) }))
  const leave = () => {
    hasLeft = true
    connections.leave()
  }
  return { app, startAdmin, problems, leave }
}

/**
 * The admin server is closed last, so that probes get a response until everything else has ended.
 * It is opened only after the application accepts requests.
 */
function prepareAdmin({ config, owner }: Process) {
  let admin: Awaited<ReturnType<typeof startAdminServer>> | undefined
  owner.add(() => admin?.close())
  return async (routes: ReturnType<typeof adminRoutes>) => {
    const { ADMIN_HOST: host, GATEWAY_ADMIN_PORT: port } = config
    admin = await startAdminServer({ host, port, routes })
    return admin
  }
}

function openObjectStore({ config, secrets, owner: { own } }: Process) {
  const objects = own(
    createObjectStore({
      ...objectStoreSettings(config),
      endpoint: secrets.follow('S3_ENDPOINT'),
      timeoutMs: limits.storageMs,
    }),
  )
  const bucket = own(
    pollCheck({
      what: 'the object store',
      check: () => objects.checkBucket(),
      describe: describeStoreError,
      intervalMs: 5_000,
      timeoutMs: 5_000,
    }),
  )
  return { objects, bucket }
}

function measureAttachments(
  objects: ObjectStore,
  metrics: Registry,
  problems: Pick<GatewayProblems, 'note'>,
) {
  return measureObjectStore(objects, {
    metrics,
    onFailed(operation) {
      if (operation === 'put') problems.note('object_store', 'attachments were not stored', minute)
      else problems.note('attachments_left', 'attachments could not be removed')
    },
  })
}

/** Opens the main connection. Records and reservations that replicas must confirm use others. */
function openRedis({ config, log, secrets, owner }: Process) {
  const onError = createWarning(log, redisHelp, 'Redis connection failed')
  const client = connectRedis({ url: secrets.follow('REDIS_URL'), role: 'producer', onError })
  owner.add(() => client.disconnect())
  if (config.REDIS_DURABILITY === 'asserted') {
    const help = helpOf('redis_could_lose_records')
    log.info({ help }, 'Redis hides its settings; they are assumed to be correct')
  }
  const warnWhileConnected = (message: string) =>
    reportWhileConnected(client, createWarning(log, redisHelp, message))
  return { client, onError, warnWhileConnected }
}

type OpenRedis = ReturnType<typeof openRedis>

function openQueues({ config, secrets, owner: { own } }: Process, redis: OpenRedis) {
  const { client, onError, warnWhileConnected } = redis
  const shardNumbers = Array.from({ length: config.QUEUE_SHARDS }, (_, shard) => shard)
  const shardTags = shardNumbers.map(shardPrefix)
  const redisPoll = own(
    pollRedisState({
      redis: client,
      tags: [...reservationTags, ...shardTags],
      replicasMin: config.REDIS_ACK_REPLICAS,
      assertsDurability: config.REDIS_DURABILITY === 'asserted',
      intervalMs: 1_000,
      onError: warnWhileConnected('Redis could not be polled'),
    }),
  )
  const connections = own(
    openRecordConnections({
      redis: client,
      url: secrets.follow('REDIS_URL'),
      replicas: config.REDIS_ACK_REPLICAS,
      tags: shardTags,
      refusalOf: redisPoll.refusalOf,
      onError,
    }),
  )
  const ledger = own(
    createReservationLedger({
      redis: client,
      memoryBytes: () => redisPoll.state()?.memoryBytesMax,
      shares: limits.reservationShares,
      onError: warnWhileConnected('the reservations could not be read'),
    }),
  )
  const open = (kind: QueueName, shard = 0) =>
    own(createJobSink({ ...connections[kind], kind, shard }))

  /** Spreads log events over the shards of `QUEUE_SHARDS`; only installations with several do so. */
  function openShards() {
    const failed = 'a shard of the queue cannot be reached; the others get its frames'
    const health = own(
      startShardHealth({
        redis: client,
        shards: shardNumbers.length,
        onError: warnWhileConnected(failed),
      }),
    )
    const isUsable = (shard: number) =>
      health.isUsable(shard) && redisPoll.refusalOf(shardPrefix(shard)) === undefined
    const sinks = shardNumbers.map((shard) => open('logs', shard))
    return {
      lost: health.lost,
      unused: () => shardNumbers.filter((shard) => !isUsable(shard)),
      producer: createShardedProducer({ sinks, isUsable }),
    }
  }

  const shards = config.QUEUE_SHARDS > 1 ? openShards() : undefined
  const idempotency = createIdempotencyStore({ reserve: connections.reserve, ledger })
  return {
    redisPoll,
    ledger,
    shardNumbers,
    shards,
    outcomes: createFrameProducer({ sink: open('outcomes') }),
    ports: {
      // A server of a cluster that hangs must not take the places of those that respond.
      idempotency: client.isCluster ? idempotency : createFairReservations(idempotency),
      queues: {
        logs: shards?.producer ?? createFrameProducer({ sink: open('logs') }),
        feedback: createFrameProducer({ sink: open('feedback') }),
      },
    },
  }
}

/** While Redis is down, the gateway uses the values that it has already read. */
function watchAccess(
  { config, log, owner: { own } }: Process,
  { client, warnWhileConnected }: OpenRedis,
  { redisPoll, shardNumbers }: Pick<ReturnType<typeof openQueues>, 'redisPoll' | 'shardNumbers'>,
) {
  /**
   * Such an entry affects only the API key, the retention or the rule that it describes. The names
   * of the entries reveal nothing of their content.
   */
  function warnOfUnreadable(what: string) {
    const warn = createWarning(log, helpOf('redis_lost_its_data'), what)
    return (names: string[]) => warn(new Error(names.join(', ')))
  }
  const apiKeys = own(
    watchApiKeys({
      store: createApiKeyStore({ redis: client }),
      // With 100,000 keys, whose reading takes a moment, a change acts within two seconds.
      intervalMs: 1_000,
      onError: warnWhileConnected('API keys could not be read'),
      onUnreadable: warnOfUnreadable('the entries of some API keys cannot be read'),
    }),
  )
  const policy = own(
    watchPolicy({
      store: createPolicyStore({ redis: client }),
      intervalMs: 2_000,
      onError: warnWhileConnected('the policy could not be read'),
      onUnreadable: warnOfUnreadable('entries of the policy cannot be read'),
    }),
  )
  const counters = own(
    startFleetCounters({
      counts: createSharedCounts({ redis: client }),
      onError: warnWhileConnected(
        'the request counts of API keys could not be shared; each gateway uses only its own',
      ),
    }),
  )
  const limiter = new KeyLimiter({ config, counters, clock: systemClock, wallMs: Date.now })
  const queueShares = own(
    startQueueShares({
      redis: client,
      redisPoll,
      oldestQueued: () => readOldestQueued(client, shardNumbers),
      isShared: apiKeys.hasSeveral,
      onError: warnWhileConnected(
        'what API keys hold of the queue could not be counted; none is refused for its share',
      ),
    }),
  )
  return { apiKeys, policy, limiter, queueShares }
}

function reportToOthers(
  { config, log, owner: { own } }: Process,
  { client, warnWhileConnected }: OpenRedis,
  outcomes: Pick<Parameters<typeof startOutcomeReports>[0], 'counts' | 'producer'>,
): void {
  own(
    startOutcomeReports({
      ...outcomes,
      onError: warnWhileConnected('outcome counts could not be sent; they will be sent again'),
      onLost: (err, records) =>
        log.error(
          { err, records, help: redisHelp },
          'the last outcome counts could not be sent: their records are missing from the outcome counts',
        ),
    }),
  )
  own(
    startPresence({
      redis: client,
      service: 'gateway',
      url: publicUrlOf(config),
      settings: digestShared(GatewayConfig, config),
      onError: warnWhileConnected('this gateway could not report that it runs'),
    }),
  )
}
