import type { Redis } from '@intake/redis'

/** Longer than the longest pause of a postponed job (worker/src/deliver/drain-queue.ts). */
const postponedMaxMs = 60 * 60_000
/** BullMQ's score of a postponed job is the time when it is due, times this. */
const scorePerMs = 0x1000

/**
 * KEYS: the turn to look for expired locks, the claimed jobs, the postponed jobs. ARGV: the prefix
 * of jobs; how long the turn and a lock last, in milliseconds; the highest score that a postponed
 * job can have.
 */
const script = `
local function shorten(key, ms)
  if redis.call('PTTL', key) > tonumber(ms) then redis.call('PEXPIRE', key, ms) end
end
shorten(KEYS[1], ARGV[2])
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  shorten(ARGV[1] .. id .. ':lock', ARGV[3])
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], ARGV[4], '+inf')) do
  redis.call('ZADD', KEYS[3], 0, id)
end
`

/**
 * Shortens what lasts for too long because a clock stepped back. Redis keeps an expiry as a time:
 * after a step of an hour, the lock of a killed worker, and the turn to look for such locks, live
 * for an hour. Makes jobs due that were postponed by a worker whose clock was ahead.
 */
export async function shortenWaits(
  redis: Redis,
  key: (name: string) => string,
  { turnMs, lockMs }: { turnMs: number; lockMs: number },
): Promise<void> {
  const keys = ['stalled-check', 'active', 'delayed'].map(key)
  const scoreMax = (Date.now() + postponedMaxMs) * scorePerMs
  await redis.eval(script, keys.length, ...keys, key(''), turnMs, lockMs, scoreMax)
}
