import { randomUUID } from 'node:crypto'
import { startPolling, withTimeout } from '@intake/runtime'
import { whileConnected } from './connection-check.ts'
import type { Redis } from './connect.ts'
import { installationKey } from './installation.ts'
import { mainTag } from './servers.ts'

/**
 * A hash with a field for each process: the time of the report in seconds, by the clock of Redis, a
 * space, and the text.
 */
const reportsKey = `${mainTag}:reports`
const freshSeconds = 15
const leaveTimeoutMs = 1_000

/** Writes nothing to a Redis without a mark. Removes reports of killed processes. */
const reportScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local now = tonumber(redis.call('TIME')[1])
local all = redis.call('HGETALL', KEYS[2])
for at = 1, #all, 2 do
  local time = tonumber(string.match(all[at + 1], '^%d+'))
  if time == nil or time < now - 60 then redis.call('HDEL', KEYS[2], all[at]) end
end
return redis.call('HSET', KEYS[2], ARGV[1], string.format('%d', now) .. ' ' .. ARGV[2])`
const readScript = `return {redis.call('TIME'), redis.call('HVALS', KEYS[1])}`

/** Reports every five seconds what others cannot read elsewhere, until a graceful shutdown. */
export function startReports(options: {
  redis: Redis
  report: () => string
  onError: (error: unknown) => void
}): { close(): Promise<void> } {
  const { redis, report } = options
  const field = randomUUID()
  return startReporting({
    ...options,
    intervalMs: 5_000,
    write: () => redis.eval(reportScript, 2, installationKey, reportsKey, field, report()),
    remove: () => redis.hdel(reportsKey, field),
  })
}

/** Writes a report at intervals while Redis is connected, and removes it at the end. */
export function startReporting(options: {
  redis: Redis
  write: () => Promise<unknown>
  remove: () => Promise<unknown>
  intervalMs: number
  onError: (error: unknown) => void
}): { close(): Promise<void> } {
  const { redis, write, remove, intervalMs, onError } = options
  const poll = whileConnected(redis, async () => void (await write()))
  const polling = startPolling({ poll, intervalMs, onError })
  return {
    async close() {
      polling.close()
      if (redis.status !== 'ready') return
      await withTimeout(remove(), leaveTimeoutMs, 'removing the report').catch(onError)
    },
  }
}

/** Resolves to the reports of the processes that run. */
export async function readReports(redis: Redis): Promise<string[]> {
  const reply = await redis.eval(readScript, 1, reportsKey)
  const [[seconds], values] = reply as [[string, string], string[]]
  return values.flatMap((value) => {
    const at = value.indexOf(' ')
    const isFresh = Number(value.slice(0, at)) > Number(seconds) - freshSeconds
    return isFresh ? [value.slice(at + 1)] : []
  })
}
