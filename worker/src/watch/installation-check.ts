import { ClickHouseError, describeError, type ClickHouse } from '@intake/clickhouse'
import { readInstallation } from '@intake/schema'
import { pollCheck, type PolledCheck } from '@intake/health'
import type { ReadBacklogs } from '@intake/queue'
import type { JobSource } from '@intake/queue/consume'
import { withTimeout, type Clock } from '@intake/runtime'

/**
 * Checks whether Redis and ClickHouse have the mark of the same installation, which `intake setup`
 * writes to both. While ClickHouse's mark cannot be read, `problem` and `error` give the reason.
 */
export interface InstallationCheck extends PolledCheck {
  /**
   * Whether frames may be taken. True if Redis has the same mark as ClickHouse, or has no mark
   * because it lost its data. After each new connection to Redis, false until the mark has been
   * read.
   */
  isConfirmed(): boolean
  /** How the marks differ, in words for an operator; undefined if no difference is known. */
  difference(): string | undefined
}

/**
 * Compares the installations of Redis and ClickHouse, every few seconds and whenever Redis has been
 * connected. While ClickHouse cannot be read, the last result is kept and the check reports the
 * reason. So the check detects an outage of ClickHouse even when there is nothing to insert.
 *
 * @param options.readMark reads the mark in Redis
 * @param options.redis emits `ready` when the mark can be read, and `close` when a connection has
 * ended; the next connection may lead to another Redis
 */
export function startInstallationCheck(options: {
  redis: { on(event: 'close' | 'ready', listener: () => void): unknown }
  readMark: () => Promise<string | null>
  clickhouse: Pick<ClickHouse, 'query'>
  intervalMs: number
  timeoutMs: number
  clock?: Clock
}): InstallationCheck {
  const { redis, readMark, clickhouse, timeoutMs, clock } = options
  let connection = 0
  let isConfirmed = false
  let difference: string | undefined

  redis.on('close', () => {
    connection++
    isConfirmed = false
  })
  const check = pollCheck({
    what: 'ClickHouse',
    describe: (error) =>
      error instanceof ClickHouseError && error.kind === 'operator'
        ? `the installation of ClickHouse cannot be read (intake.installation): ${describeError(error)}`
        : describeError(error),
    async check() {
      const before = connection
      // Limits the wait for Redis, so that time is left to read ClickHouse. Failures of Redis are
      // reported elsewhere.
      const reading = withTimeout(readMark(), timeoutMs / 2, 'Redis', clock).catch(() => undefined)
      const [mark, known] = await Promise.all([reading, readInstallation(clickhouse)])
      if (mark === undefined || connection !== before) return
      isConfirmed = mark === null || mark === known
      difference = isConfirmed ? undefined : describe(known)
    },
    intervalMs: options.intervalMs,
    timeoutMs,
    ...(clock && { clock }),
  })
  redis.on('ready', check.checkNow)
  return { ...check, isConfirmed: () => isConfirmed, difference: () => difference }
}

function describe(known: string | null): string {
  return known === null
    ? 'this ClickHouse belongs to no installation, this Redis to one (see intake setup): no frames are taken'
    : 'this Redis and this ClickHouse belong to different installations (REDIS_URL, CLICKHOUSE_URL): no frames are taken'
}

/**
 * Wraps a source of jobs. While it is not confirmed that Redis belongs to the same installation as
 * ClickHouse, the queue seems empty. Frames that are already claimed can still be completed.
 */
export function whileConfirmed(source: JobSource, isConfirmed: () => boolean): JobSource {
  return {
    ...source,
    peek: async () => (isConfirmed() ? source.peek() : { count: 0, oldest: undefined }),
    hasPostponed: async () => isConfirmed() && source.hasPostponed(),
    claim: async () => (isConfirmed() ? source.claim() : undefined),
    complete: (job, { claimNext }) =>
      source.complete(job, { claimNext: claimNext && isConfirmed() }),
  }
}

/**
 * Wraps `readBacklogs`. While it is not confirmed that Redis belongs to this installation, the read
 * resolves to undefined, as for a Redis without an installation.
 */
export function readWhileConfirmed(
  readBacklogs: ReadBacklogs,
  isConfirmed: () => boolean,
): ReadBacklogs {
  return async (options) => {
    const backlogs = isConfirmed() ? await readBacklogs(options) : undefined
    // The connection may have ended during the read.
    return isConfirmed() ? backlogs : undefined
  }
}
