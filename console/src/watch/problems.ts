import { ClickHouseError, describeError } from '@intake/clickhouse'
import { separateStart, startProblems, type PolledCheck, type Problems } from '@intake/health'
import type { StoredStateMonitor } from '@intake/records'
import { DifferentInstallations } from '@intake/schema'
import type { Logger, Registry } from '@intake/runtime/process'
import type { Reported } from './reported.ts'

const notedCodes = ['alerts_late', 'counts_late', 'page_fails', 'webhook_fails'] as const
export type ConsoleProblems = Problems<(typeof notedCodes)[number]>

/**
 * Watches the problems of the console itself. It remains ready without Redis, because its views
 * show what has failed.
 */
export function startConsoleProblems(options: {
  redisConnection: () => string | undefined
  /** Its failure shows that Redis hangs, which does not close the connection. */
  reported: Pick<Reported, 'failure'>
  stored: Pick<StoredStateMonitor, 'error'>
  installation: Pick<PolledCheck, 'error'>
  /** Whether PAGE_CLICKHOUSE_URL is set. If it is, a failed read is a problem. */
  hasReader: boolean
  log: Logger
  metrics: Registry
  /** How long the process has been running; default: that of this process. */
  uptimeMs?: () => number
}): ConsoleProblems {
  const { redisConnection, reported, stored, installation, hasReader, log, metrics, uptimeMs } =
    options
  const { starting, lasting } = separateStart(
    () => redisConnection() ?? reported.failure(),
    uptimeMs,
  )
  return startProblems({
    checks: {
      process_ends: starting,
      redis_connection: lasting,
      configuration() {
        const error = installation.error()
        return error instanceof DifferentInstallations ? error.message : undefined
      },
      page_fails() {
        const error = stored.error()
        if (!hasReader || !(error instanceof ClickHouseError) || error.kind !== 'operator')
          return undefined
        return `dead letters and watermark cannot be read with PAGE_CLICKHOUSE_URL: ${describeError(error)}`
      },
    },
    noted: notedCodes,
    states: { redis_connection: 'degraded', configuration: 'degraded' },
    log,
    metrics,
  })
}
