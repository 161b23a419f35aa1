import { randomUUID } from 'node:crypto'
import { tryJson } from '@intake/runtime'
import type { Redis } from './connect.ts'
import { installationKey } from './installation.ts'
import { startReporting } from './reports.ts'
import { mainTag } from './servers.ts'

export type ReportingService = 'gateway' | 'worker'

export interface ReportingProcesses {
  reporting: number
  /** How many have stopped reporting within the last hour without a graceful shutdown. */
  stopped: number
  /** When the last of these reported, in milliseconds since 1970. */
  stoppedAtMs: number | undefined
  /** The URLs at which clients reach those that report, sorted; empty for workers. */
  urls: readonly string[]
}

/** Digests of the settings that processes must share, by name. */
type Digests = Record<string, string>

/**
 * A sorted set: `<service>:<id>`, for a gateway followed by a space and its URL; and `settings:`,
 * the service, a space and `Digests` as JSON, once for all processes that have the same. The score
 * is the time of the last report, by the clock of Redis.
 */
const processesKey = `${mainTag}:processes`
const intervalMs = 10_000
const silentMs = 3 * intervalMs
const keptMs = 3_600_000

/** Writes nothing to a Redis without the mark: a key could hide that it has lost its data. */
const announceScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at = 2, #ARGV do redis.call('ZADD', KEYS[2], now, ARGV[at]) end
return redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[1]))`
const readScript = `
return {redis.call('TIME'), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}`

/**
 * Reports every ten seconds that a process runs, and its settings. A graceful shutdown removes the
 * report; other processes with the same settings repeat these.
 */
export function startPresence(options: {
  redis: Redis
  service: ReportingService | 'console'
  url?: string
  settings: Digests
  onError: (error: unknown) => void
}): { close(): Promise<void> } {
  const { redis, service, url, settings } = options
  const members = [
    [`${service}:${randomUUID()}`, url ?? []].flat().join(' '),
    `settings:${service} ${JSON.stringify(settings)}`,
  ]
  return startReporting({
    ...options,
    intervalMs,
    write: () => redis.eval(announceScript, 2, installationKey, processesKey, keptMs, ...members),
    remove: () => redis.zrem(processesKey, ...members),
  })
}

/** Resolves to the settings of the processes that report; each service has each version once. */
export async function readSharedSettings(
  redis: Redis,
): Promise<{ service: string; digests: Digests }[]> {
  const { nowMs, found } = await readMembers(redis)
  return found.flatMap(({ member, lastMs }) => {
    const [, service, json] = /^settings:(\w+) (.*)$/.exec(member) ?? []
    const digests = tryJson(json ?? '') as Digests | undefined
    return service && digests && lastMs >= nowMs - silentMs ? [{ service, digests }] : []
  })
}

async function readMembers(redis: Redis) {
  const reply = await redis.eval(readScript, 1, processesKey)
  const [[seconds, microseconds], flat] = reply as [[string, string], string[]]
  const found = flat.flatMap((member, at) =>
    at % 2 === 0 ? [{ member, lastMs: Number(flat[at + 1]) }] : [],
  )
  return { nowMs: Number(seconds) * 1_000 + Number(microseconds) / 1_000, found }
}

export async function readPresence(
  redis: Redis,
): Promise<Record<ReportingService, ReportingProcesses>> {
  const { nowMs, found } = await readMembers(redis)
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
