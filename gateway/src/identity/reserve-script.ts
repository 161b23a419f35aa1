import type { Redis } from '@intake/redis'

/**
 * Finds a key in the buckets of all days, or writes it into today's. Today is what the clock of Redis
 * says within the script, so two gateways agree also over midnight.
 *
 * KEYS: the bucket of each day, without a gap, the last but one being today by what the caller knew.
 * ARGV: the first of the days, the field, the value, whether it may be written, the days it is kept.
 * Returns the value found, or 1: written; 0: not there, and not written; 2: other days are needed.
 */
const script = `
local day = math.floor(redis.call('TIME')[1] / 86400)
local today = day - ARGV[1] + 1
if today ~= #KEYS - 1 and today ~= #KEYS then return 2 end
for i = #KEYS, 1, -1 do
  local value = redis.call('HGET', KEYS[i], ARGV[2])
  if value then return value end
end
if ARGV[4] == '0' then return 0 end
redis.call('HSET', KEYS[today], ARGV[2], ARGV[3])
if redis.call('HLEN', KEYS[today]) == 1 then
  redis.call('EXPIREAT', KEYS[today], (day + 1 + ARGV[5]) * 86400)
end
return 1
`

export interface ReserveCall {
  keys: string[]
  /** Days since 1970. */
  firstDay: number
  field: Buffer
  value: Buffer
  mayWrite: boolean
  keptDays: number
}

export type ReserveReply = Buffer | 'reserved' | 'no room' | 'other days'

const replies = ['no room', 'reserved', 'other days'] as const

/** Loads the script under a command of its own; the client sends it again where Redis lacks it. */
export function defineReserve(redis: Redis): (call: ReserveCall) => Promise<ReserveReply> {
  redis.defineCommand('intakeReserve', { lua: script })
  const { intakeReserveBuffer } = redis as unknown as {
    intakeReserveBuffer: (...args: (Buffer | string | number)[]) => Promise<Buffer | 0 | 1 | 2>
  }
  return async ({ keys, firstDay, field, value, mayWrite, keptDays }) => {
    const args = [firstDay, field, value, mayWrite ? 1 : 0, keptDays]
    const reply = await intakeReserveBuffer.call(redis, keys.length, ...keys, ...args)
    return typeof reply === 'number' ? replies[reply] : reply
  }
}
