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
import {
  createFrameProducer,
  createJobSink,
  createShardedProducer,
  type JobSink,
} from '@intake/queue/produce'
import {
  connectRedis,
  createConnectionCheck,
  pollRedisState,
  startPresence,
  type RedisPoll,
} from '@intake/redis'
import { limitRepeats, type Owner, systemClock } from '@intake/runtime'
import { createMetrics, type Logger, type Registry, type Secrets } from '@intake/runtime/process'
import { startTracing } from '@intake/tracing'
import { createAdmission } from './admission/admission.ts'
import { createKeyLimiter } from './admission/key-limits.ts'
import { startFleetCounters } from './admission/fleet-counters.ts'
import { startQueueShares } from './admission/queue-shares.ts'
import { createSharedCounts } from './admission/shared-counts.ts'
import { buildApp } from './app.ts'
import { openRecordConnections } from './commit/record-connections.ts'
import { createFairReservations } from './identity/fair-reservations.ts'
import { gatewayFacts, gatewayNotes, gatewayScaling } from './report/facts.ts'
import { createGatewayMetrics } from './report/metrics.ts'
import { OutcomeCounts } from './report/outcome-counts.ts'
import { startOutcomeReports } from './report/outcome-reports.ts'
import { startGatewayProblems, type GatewayProblems } from './report/problems.ts'
import { registerRedisMetrics } from './report/state-metrics.ts'

const minute = 60_000
const redisHelp = helpOf('redis_connection')
const lostHelp = helpOf('redis_lost_its_data')

interface Process {
  config: GatewayConfig
  log: Logger
  secrets: Secrets<typeof GatewayConfig>
  owner: Owner
  isDraining: () => boolean
}

/** The owner closes parts in reverse order, so each is created after those that it uses. */
type Own = Owner['own']

interface Gateway {
  app: FastifyInstance
  startAdmin: () => Promise<{ port: number }>
  problems: Pick<GatewayProblems, 'present'>
  /** From now on connections close with their next response. */
  leave: () => void
}

export async function compose(gateway: Process): Promise<Gateway> {
  const { config, log, owner, isDraining } = gateway
  const { own } = owner
  // The admin server is closed last, so that probes get a response until everything else has ended.
  // It is opened only after the application accepts requests.
  let admin: Awaited<ReturnType<typeof startAdminServer>> | undefined
  owner.add(() => admin?.close())
  const tracing = await openTracing(gateway)
  owner.add(() => tracing?.close())

  const store = openObjectStore(gateway, own)
  const redis = openRedis(gateway)
  const queues = openQueues(gateway, redis, own)
  const access = watchAccess(gateway, redis, queues, own)
  const { redisPoll, ledger, shards } = queues
  const outcomeCounts = new OutcomeCounts()
  own(reportOutcomes(gateway, redis, queues.outcomes, outcomeCounts))
  own(reportPresence(redis, config))

  const registry = createMetrics()
  const metrics = createGatewayMetrics(registry)
  registerRedisMetrics(registry, { state: redisPoll.state, ledger })
  const admission = createAdmission({
    state: redisPoll.state,
    ...(shards && { lostShards: shards.lost }),
    overShare: access.queueShares.over,
    strict: config.REDIS_DURABILITY !== 'relaxed',
    clockSkewMaxMs: limits.clockSkewMaxMs,
  })
  const problems = own(
    startGatewayProblems({
      redisConnection: redis.connection,
      redisPoll,
      admission,
      ledger,
      ...access,
      bucket: store.bucket,
      isStrict: config.REDIS_DURABILITY !== 'relaxed',
      log,
      metrics: registry,
    }),
  )
  const attachments = measureAttachments(store.objects, registry, problems)
  const { apiKeys, policy, limiter } = access
  const ports = { apiKeys, policy, limiter, ...queues.ports, attachments }
  const { app, connections } = await buildApp({
    config,
    ports,
    admission,
    problems,
    isDraining,
    metrics,
    registry,
    outcomeCounts,
    queueShares: access.queueShares,
    log,
    tracing,
  })
  const sources = {
    metrics,
    connections,
    connectionsMax: config.CONNECTIONS_MAX,
    redisState: redisPoll.state,
    ledger,
    activeRules: () => access.policy.rules().active,
    queueShards: () => ({ count: config.QUEUE_SHARDS, unused: shards?.unused() ?? [] }),
  }
  async function startAdmin() {
    admin = await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.GATEWAY_ADMIN_PORT,
      routes: routesOfAdmin({ problems, metrics: registry, isDraining }, sources),
    })
    return admin
  }
  return { app, startAdmin, problems, leave: () => connections.leave() }
}

const routesOfAdmin = (
  of: Pick<Parameters<typeof adminRoutes>[0], 'problems' | 'metrics' | 'isDraining'>,
  sources: Parameters<typeof gatewayFacts>[0],
) =>
  adminRoutes({
    ...of,
    service: 'gateway',
    notes: () => gatewayNotes(sources),
    facts: () => gatewayFacts(sources),
    scaling: () => gatewayScaling(sources),
  })

function openTracing({ config, log }: Process) {
  return startTracing({
    service: 'intake-gateway',
    config,
    onError: limitRepeats((err, omitted) => {
      const help = 'docs/operations/problems.md#traces_lost'
      log.warn({ err, omitted, help }, 'traces could not be sent')
    }),
  })
}

function openObjectStore({ config, secrets }: Process, own: Own) {
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
  const onError = limitRepeats((err, omitted) =>
    log.warn({ err, omitted, help: redisHelp }, 'Redis connection failed'),
  )
  const client = connectRedis({ url: secrets.follow('REDIS_URL'), role: 'producer', onError })
  owner.add(() => client.disconnect())
  if (config.REDIS_DURABILITY === 'asserted') {
    const help = helpOf('redis_could_lose_records')
    log.info({ help }, 'Redis hides its settings; they are assumed to be correct')
  }
  /** When Redis is down, the connection already reports that. */
  function warnWhileConnected(message: string) {
    const warn = limitRepeats((err, omitted) =>
      log.warn({ err, omitted, help: redisHelp }, message),
    )
    return (error: unknown) => {
      if (client.status === 'ready') warn(error)
    }
  }
  return { client, onError, connection: createConnectionCheck(client), warnWhileConnected }
}

type OpenRedis = ReturnType<typeof openRedis>

function openQueues({ config, secrets }: Process, redis: OpenRedis, own: Own) {
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
  const open = (kind: QueueName, shard = 0) => {
    const sink = createJobSink({ ...connections[kind], kind, shard })
    own({ close: () => sink.close() })
    return sink
  }
  const shards =
    config.QUEUE_SHARDS > 1 ? openShards(shardNumbers, { redis, redisPoll, own, open }) : undefined
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

/** Spreads log events over the shards of `QUEUE_SHARDS`; only installations with several do so. */
function openShards(
  numbers: readonly number[],
  options: {
    redis: OpenRedis
    redisPoll: RedisPoll
    own: Own
    open: (kind: QueueName, shard: number) => JobSink
  },
) {
  const { redis, redisPoll, own, open } = options
  const health = own(
    startShardHealth({
      redis: redis.client,
      shards: numbers.length,
      onError: redis.warnWhileConnected(
        'a shard of the queue cannot be reached; the others get its frames',
      ),
    }),
  )
  const isUsable = (shard: number) =>
    health.isUsable(shard) && redisPoll.refusalOf(shardPrefix(shard)) === undefined
  const sinks = numbers.map((shard) => open('logs', shard))
  return {
    lost: health.lost,
    unused: () => numbers.filter((shard) => !isUsable(shard)),
    producer: createShardedProducer({ sinks, isUsable }),
  }
}

/** While Redis is down, the gateway uses the values that it has already read. */
function watchAccess(
  { config, log }: Process,
  redis: OpenRedis,
  { redisPoll, shardNumbers }: ReturnType<typeof openQueues>,
  own: Own,
) {
  const { client, warnWhileConnected } = redis
  /**
   * Such an entry affects only the API key, the retention or the rule that it describes. The names
   * of the entries reveal nothing of their content.
   */
  function warnOfUnreadable(what: string) {
    const warn = limitRepeats((err, omitted) => log.warn({ err, omitted, help: lostHelp }, what))
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
  const limiter = createKeyLimiter({
    config,
    counters,
    clock: systemClock,
    wallMs: Date.now,
  })
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

function reportPresence({ client, warnWhileConnected }: OpenRedis, config: GatewayConfig) {
  return startPresence({
    redis: client,
    service: 'gateway',
    url: publicUrlOf(config),
    settings: digestShared(GatewayConfig, config),
    onError: warnWhileConnected('this gateway could not report that it runs'),
  })
}

function reportOutcomes(
  { log }: Process,
  { warnWhileConnected }: OpenRedis,
  producer: Parameters<typeof startOutcomeReports>[0]['producer'],
  counts: Parameters<typeof startOutcomeReports>[0]['counts'],
) {
  return startOutcomeReports({
    counts,
    producer,
    onError: warnWhileConnected('outcome counts could not be sent; they will be sent again'),
    onLost: (err, records) =>
      log.error(
        { err, records, help: redisHelp },
        'the last outcome counts could not be sent: their records are missing from the outcome counts',
      ),
  })
}
