import type { ClickHouse } from '@intake/clickhouse'
import { digestShared, WorkerConfig } from '@intake/config'
import { limits } from '@intake/contract'
import { helpOf } from '@intake/health/problem-catalogue'
import { createBacklogReader, readShards, shardPrefix, startBacklogMonitor } from '@intake/queue'
import { startStoredStateMonitor } from '@intake/records'
import {
  createConnectionCheck,
  readInstallation,
  reportWhileConnected,
  startPresence,
  whileConnected,
  type Redis,
} from '@intake/redis'
import { limitRepeats, type Owner } from '@intake/runtime'
import { createWarning, type Logger, type Registry } from '@intake/runtime/process'
import type { DeliveryEvents } from '../deliver/ports.ts'
import type { RefusalRuns } from '../deliver/refusal-run.ts'
import { registerBacklogMetrics } from './backlog-metrics.ts'
import { readWhileConfirmed, startInstallationCheck } from './installation-check.ts'
import { createWorkerMetrics } from './metrics.ts'
import { startWorkerProblems } from './problems.ts'
import { startJournal } from './journal.ts'
import { createWorkerReport } from './report.ts'
import { startRedisCheck } from './redis-check.ts'
import { startShardRecovery } from './shard-recovery.ts'
import { registerStoredStateMetrics } from './stored-state-metrics.ts'
import { startWatermark } from './watermark.ts'

export type Watch = ReturnType<typeof startWatch>

interface WatchOptions {
  config: WorkerConfig
  log: Logger
  owner: Owner
  redis: Redis
  clickhouse: ClickHouse
  registry: Registry
  refusals: RefusalRuns
  onQueueError: (error: Error) => void
}

/** Short, because a problem must be visible within 15 seconds. */
const checks = { intervalMs: 5_000, timeoutMs: 3_000 }

/** Starts everything that watches the worker, and gives each part to the owner. */
export function startWatch(options: WatchOptions) {
  const { config, log, owner, redis, clickhouse, registry, refusals, onQueueError } = options
  const { own } = owner
  const metrics = createWorkerMetrics(registry)
  const readBacklogs = whileConnected(redis, createBacklogReader({ redis }))
  const installation = own(
    startInstallationCheck({
      redis,
      readMark: whileConnected(redis, () => readInstallation(redis)),
      clickhouse,
      ...checks,
    }),
  )
  const { isConfirmed } = installation
  const backlogs = own(
    startBacklogMonitor({
      readBacklogs,
      mayTake: isConfirmed,
      onError: reportWhileConnected(redis, onQueueError),
    }),
  )
  registerBacklogMetrics(registry, backlogs)
  const stored = own(
    startStoredStateMonitor({ reader: clickhouse, log, help: helpOf('dead_letters') }),
  )
  registerStoredStateMetrics(registry, stored)
  const mainTags = [shardPrefix(0)]
  const redisCheck = own(startRedisCheck({ redis, tags: async () => mainTags, ...checks }))
  const shardCheck = redis.isCluster ? watchShards(options, isConfirmed) : undefined
  own(watchJournal(options, isConfirmed))
  const watermark = own(
    startWatermark({
      readBacklogs: readWhileConfirmed(readBacklogs, isConfirmed),
      store: clickhouse,
      clockSkewMaxMs: limits.clockSkewMaxMs,
      onError: createWarning(log, helpOf('watermark'), 'the watermark could not be stored'),
    }),
  )
  const problems = own(
    startWorkerProblems({
      redisConnection: createConnectionCheck(redis),
      redisCheck,
      shardCheck,
      installation,
      backlogs,
      stored,
      activity: metrics.activity,
      refusals,
      watermark,
      log,
      metrics: registry,
    }),
  )
  const report = createWorkerReport()
  own(
    startPresence({
      redis,
      service: 'worker',
      settings: digestShared(WorkerConfig, config),
      report: () => report.print(problems),
      onError: reportWhileConnected(
        redis,
        createWarning(log, helpOf('redis_connection'), 'this worker could not report that it runs'),
      ),
    }),
  )
  const events: DeliveryEvents = {
    ...metrics,
    visible(kind, frame) {
      metrics.visible(kind, frame)
      report.visible(kind, frame)
    },
  }
  return { metrics, events, installation, backlogs, stored, problems }
}

/** Watches the shards of the log queue besides shard 0, which only a Redis Cluster has. */
function watchShards(
  { redis, owner: { own }, onQueueError }: WatchOptions,
  isConfirmed: () => boolean,
) {
  own(startShardRecovery({ redis, isConfirmed, onError: (error) => onQueueError(error as Error) }))
  const tags = async () => (await readShards(redis)).slice(1).map(shardPrefix)
  return own(startRedisCheck({ redis, tags, ...checks }))
}

function watchJournal({ redis, clickhouse, log }: WatchOptions, isConfirmed: () => boolean) {
  return startJournal({
    redis,
    store: clickhouse,
    isConfirmed,
    onError: limitRepeats((err, omitted) => {
      // Other log lines already report an outage.
      log.debug({ err, omitted }, 'changes of operators could not be moved to the journal')
    }),
  })
}
