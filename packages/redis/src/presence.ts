import { randomUUID } from 'node:crypto'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { whileConnected } from './connection-check.ts'
import type { Redis } from './connect.ts'
import { installationKey } from './installation.ts'
import { mainTag } from './servers.ts'

export type ReportingService = 'gateway' | 'worker'

export interface ReportingProcesses {
  reporting: number
  /**
   * The number of processes that stopped reporting within the last hour without a graceful
   * shutdown.
   */
  stopped: number
  /** When the last of these processes reported, in milliseconds since 1970. */
  stoppedAtMs: number | undefined
  /** The URLs at which clients reach those that report, sorted; empty for workers. */
  urls: readonly string[]
}

/**
 * The key of a sorted set of processes. Each member is `<service>:<id>`, for a gateway followed by a
 * space and its URL. Its score is the time of the process's last report, by the clock of Redis.
 */
const processesKey = `${mainTag}:processes`
const intervalMs = 10_000
/** A process that has been silent for this long counts as stopped. */
const silentMs = 3 * intervalMs
const keptMs = 3_600_000
const leaveTimeoutMs = 1_000

/**
 * Writes nothing to a Redis that has no mark of an installation. A key in such a Redis could hide
 * that it has lost its data.
 */
const announceScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], now, ARGV[1])
return redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[2]))`
const readScript = `
return {redis.call('TIME'), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}`

/**
 * Reports every ten seconds that a process runs. A process that shuts down gracefully removes its
 * report.
 *
 * @param options.url the URL at which clients reach the process
 * @param options.onError called when Redis did not confirm a report
 */
export function startPresence(options: {
  redis: Redis
  service: ReportingService
  url?: string
  onError: (error: unknown) => void
  clock?: Clock
}): { close(): Promise<void> } {
  const { redis, service, url, onError, clock = systemClock } = options
  const member = [`${service}:${randomUUID()}`, ...(url === undefined ? [] : [url])].join(' ')
  redis.defineCommand('intakeAnnounce', { lua: announceScript, numberOfKeys: 2 })
  const { intakeAnnounce } = redis as unknown as {
    intakeAnnounce: (...args: (string | number)[]) => Promise<number>
  }
  const announce = whileConnected(redis, async () => {
    await intakeAnnounce.call(redis, installationKey, processesKey, member, keptMs)
  })
  const polling = startPolling({ poll: announce, intervalMs, onError, clock })
  return {
    async close() {
      polling.close()
      if (redis.status !== 'ready') return
      const leaving = redis.zrem(processesKey, member)
      await withTimeout(leaving, leaveTimeoutMs, 'ending the reports', clock).catch(onError)
    },
  }
}

/** Creates a function that counts the processes of each service. */
export function definePresenceReader(
  redis: Redis,
): () => Promise<Record<ReportingService, ReportingProcesses>> {
  redis.defineCommand('intakeProcesses', { lua: readScript, numberOfKeys: 1 })
  const { intakeProcesses } = redis as unknown as {
    intakeProcesses: (key: string) => Promise<[[string, string], string[]]>
  }
  return async () => {
    const [[seconds, microseconds], flat] = await intakeProcesses.call(redis, processesKey)
    const nowMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000
    const found = flat.flatMap((member, at) =>
      at % 2 === 0 ? [{ member, lastMs: Number(flat[at + 1]) }] : [],
    )
    const countOf = (service: ReportingService): ReportingProcesses => {
      const known = found.filter(
        ({ member, lastMs }) => member.startsWith(`${service}:`) && lastMs > nowMs - keptMs,
      )
      const reporting = known.filter(({ lastMs }) => lastMs >= nowMs - silentMs)
      const stopped = known.filter(({ lastMs }) => lastMs < nowMs - silentMs)
      const urls = reporting.flatMap(({ member }) => member.split(' ').slice(1))
      return {
        reporting: reporting.length,
        stopped: stopped.length,
        stoppedAtMs:
          stopped.length === 0 ? undefined : Math.max(...stopped.map(({ lastMs }) => lastMs)),
        urls: [...new Set(urls)].toSorted(),
      }
    }
    return { gateway: countOf('gateway'), worker: countOf('worker') }
  }
}
