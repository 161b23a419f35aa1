import { randomUUID } from 'node:crypto'
import { startPolling, tryJson, withTimeout } from '@intake/runtime'
import type { Redis } from './connect.ts'
import { whileConnected } from './connection-check.ts'
import { installationKey } from './installation.ts'
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
 * A sorted set: `<service>:<id>`, for a gateway followed by a space and its URL; `settings:`, the
 * service, a space and `Digests` as JSON, once for all processes that have the same; and `report:`,
 * an id, a space and a text, once for each process that tells more. The score is the time of the
 * last report, by the clock of Redis.
 */
const processesKey = `${mainTag}:processes`
const intervalMs = 5_000
const silentMs = 30_000
/** Texts of processes that have been silent for this long are not read. */
const freshMs = 15_000
const keptMs = 3_600_000
const leaveTimeoutMs = 1_000

/** Writes nothing to a Redis without the mark: a key could hide that it has lost its data. */
const announceScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREM', KEYS[2], ARGV[2])
for at = 3, #ARGV do redis.call('ZADD', KEYS[2], now, ARGV[at]) end
return redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[1]))`
const readScript = `
return {redis.call('TIME'), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}`

/**
 * Reports every five seconds that a process runs, its settings, and what others cannot read
 * elsewhere. A graceful shutdown removes the report; other processes with the same settings repeat
 * these.
 */
export function startPresence(options: {
  redis: Redis
  service: ReportingService | 'console'
  url?: string
  settings: Digests
  report?: () => string
  onError: (error: unknown) => void
}): { close(): Promise<void> } {
  const { redis, service, url, settings, report, onError } = options
  const id = randomUUID()
  const members = [
    [`${service}:${id}`, url ?? []].flat().join(' '),
    `settings:${service} ${JSON.stringify(settings)}`,
  ]
  let told = ''

  async function announce(): Promise<void> {
    const former = told
    told = report === undefined ? '' : `report:${id} ${report()}`
    const all = told === '' ? members : [...members, told]
    await redis.eval(announceScript, 2, installationKey, processesKey, keptMs, former, ...all)
  }

  const polling = startPolling({ poll: whileConnected(redis, announce), intervalMs, onError })
  return {
    async close() {
      polling.close()
      if (redis.status !== 'ready') return
      const removal = redis.zrem(processesKey, ...members, told)
      await withTimeout(removal, leaveTimeoutMs, 'removing the report').catch(onError)
    },
  }
}

/** Resolves to the latest texts of the processes that report one. */
export async function readReports(redis: Redis): Promise<string[]> {
  const { nowMs, found } = await readMembers(redis)
  const texts = new Map<string | undefined, string>()
  for (const { member, lastMs } of found) {
    const [, id, text] = /^report:(\S+) (.*)$/s.exec(member) ?? []
    // The members are sorted by time. One that Redis refused to replace is older.
    if (text !== undefined && lastMs >= nowMs - freshMs) texts.set(id, text)
  }
  return [...texts.values()]
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
  const nowMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000
  // One in the future is of a time when the clock of Redis was ahead.
  return { nowMs, found: found.filter(({ lastMs }) => lastMs < nowMs + silentMs) }
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
