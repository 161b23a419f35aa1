import type { ClickHouse } from '@intake/clickhouse'
import { ConsoleConfig, digestShared } from '@intake/config'
import { pollCheck } from '@intake/health'
import { helpOf } from '@intake/health/problem-catalogue'
import { createBacklogReader, startBacklogMonitor, type BacklogMonitor } from '@intake/queue'
import { startStoredStateMonitor, type StoredStateMonitor } from '@intake/records'
import {
  createConnectionCheck,
  readInstallation,
  readReports,
  startPresence,
  whileConnected,
  type Redis,
} from '@intake/redis'
import type { Owner } from '@intake/runtime'
import type { Logger, Registry } from '@intake/runtime/process'
import { requireSameInstallation } from '@intake/schema'
import { startConsoleProblems, type ConsoleProblems } from './problems.ts'
import { startReported, type Reported } from './reported.ts'

/** The parts that watch the console and what the page shows of the other processes. */
export interface Watch {
  backlogs: BacklogMonitor
  stored: StoredStateMonitor
  reported: Reported
  problems: ConsoleProblems
  /** Rejects if Redis and ClickHouse are known to belong to different installations. */
  requireSame: () => Promise<void>
}

/**
 * Starts everything that watches, and gives each part to the owner.
 *
 * @param options.onFeedback see `startReported`
 */
export function startWatch(options: {
  config: ConsoleConfig
  log: Logger
  owner: Owner
  redis: Redis
  clickhouse: ClickHouse
  reader: ClickHouse
  registry: Registry
  onQueueError: (error: unknown) => void
  onFeedback: () => void
}): Watch {
  const { config, log, owner, redis, clickhouse, reader, registry } = options
  const { onQueueError: onError, onFeedback } = options
  const { own } = owner
  const readBacklogs = whileConnected(redis, createBacklogReader({ redis }))
  const backlogs = own(startBacklogMonitor({ readBacklogs, onError }))
  const stored = own(startStoredStateMonitor({ reader, log, help: helpOf('page_fails') }))
  const settings = digestShared(ConsoleConfig, config)
  own(startPresence({ redis, service: 'console', settings, onError }))
  const read = whileConnected(redis, () => readReports(redis))
  const reported = own(startReported({ read, onFeedback, onError }))
  const readMark = whileConnected(redis, () => readInstallation(redis))
  const requireSame = async () => requireSameInstallation(await readMark(), clickhouse)
  const installation = own(
    pollCheck({ what: 'the marks', check: requireSame, intervalMs: 5_000, timeoutMs: 3_000 }),
  )
  const problems = own(
    startConsoleProblems({
      installation,
      redisConnection: createConnectionCheck(redis),
      reported,
      stored,
      hasReader: config.PAGE_CLICKHOUSE_URL !== undefined,
      log,
      metrics: registry,
    }),
  )
  return { backlogs, stored, reported, problems, requireSame }
}
