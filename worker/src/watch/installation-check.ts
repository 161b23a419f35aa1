import { ClickHouseError, describeError, type ClickHouse } from '@intake/clickhouse'
import { readInstallation } from '@intake/schema'
import { pollCheck } from '@intake/health'
import type { ReadBacklogs } from '@intake/queue'
import type { JobSource } from '@intake/queue/consume'
import { withTimeout, type Clock } from '@intake/runtime'

export type InstallationCheck = ReturnType<typeof startInstallationCheck>

/**
 * Checks whether Redis and ClickHouse have the mark of one installation, every few seconds and
 * whenever Redis has been connected. While ClickHouse cannot be read, the last result is kept and
 * the check reports the reason: so an outage is seen even with nothing to insert.
 *
 * @param options.redis emits `ready` when the mark can be read, and `close` when a connection has
 * ended; the next one may lead to another Redis
 */
export function startInstallationCheck(options: {
  redis: { on(event: 'close' | 'ready', listener: () => void): unknown }
  readMark: () => Promise<string | null>
  clickhouse: Pick<ClickHouse, 'query'>
  intervalMs: number
  timeoutMs: number
  clock?: Clock
}) {
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
      // Time must be left to read ClickHouse. Failures of Redis are reported elsewhere.
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
  return {
    ...check,
    /**
     * Whether frames may be taken: Redis has the same mark, or none because it lost its data. False
     * after each new connection to Redis, until the mark has been read.
     */
    isConfirmed: () => isConfirmed,
    /** How the marks differ, in words for an operator; undefined if no difference is known. */
    difference: () => difference,
  }
}

function describe(known: string | null): string {
  return known === null
    ? 'this ClickHouse belongs to no installation, this Redis to one (see intake setup): no frames are taken'
    : 'this Redis and this ClickHouse belong to different installations (REDIS_URL, CLICKHOUSE_URL): no frames are taken'
}

/**
 * While it is not confirmed that Redis belongs to the installation of ClickHouse, no frame seems to
 * wait, and none is claimed. Claimed frames can still be completed.
 */
export function whileConfirmed(source: JobSource, isConfirmed: () => boolean): JobSource {
  return {
    ...source,
    peek: async () => (isConfirmed() ? source.peek() : { count: 0, oldest: undefined }),
    claim: async () => (isConfirmed() ? source.claim() : undefined),
    complete: (job, { claimNext }) =>
      source.complete(job, { claimNext: claimNext && isConfirmed() }),
  }
}

/** Resolves to undefined while it is not confirmed that Redis is this installation's. */
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
