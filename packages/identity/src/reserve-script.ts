import type { Redis } from '@intake/redis'
import { bucketFieldsMax, levelsMax, type Buckets } from './reservation-buckets.ts'

/**
 * Finds a key in the buckets (see `Buckets`) of all days. If no bucket has the key, writes it into
 * today's first bucket that is not full. The script reads the day from Redis's clock, so all
 * gateways agree on the day, even at midnight. The search of a day ends at a bucket that is not
 * full. A bucket that was once full remains full, so no later level can contain the key.
 *
 * KEYS: the buckets, ordered as in `Buckets`. They end with the buckets of the caller's tomorrow.
 *
 * ARGV: the first day, the number of levels, the field, the value, whether the value may be
 * written, the number of days for which a bucket is kept after its own day.
 *
 * Returns the value if it finds the key, otherwise a number. 0: not found and not written; 1:
 * written. Two numbers are returned before the search is complete: 2: the days must be computed
 * again, because the day has changed; 3: one more level is needed.
 */
const script = `
local levels = tonumber(ARGV[2])
local days = #KEYS / levels
local day = math.floor(redis.call('TIME')[1] / 86400)
local today = day - ARGV[1]
if today ~= days - 2 and today ~= days - 1 then return 2 end
local free
for i = days - 1, 0, -1 do
  for level = 1, levels do
    local bucket = KEYS[i * levels + level]
    local value = redis.call('HGET', bucket, ARGV[3])
    if value then return value end
    if redis.call('HLEN', bucket) < ${bucketFieldsMax} or level == ${levelsMax} then
      if i == today then free = bucket end
      break
    end
    if level == levels then return 3 end
  end
end
if ARGV[5] == '0' then return 0 end
redis.call('HSET', free, ARGV[3], ARGV[4])
if redis.call('HLEN', free) == 1 then
  redis.call('EXPIREAT', free, (day + 1 + ARGV[6]) * 86400)
end
return 1
`

export interface ReserveCall extends Buckets {
  field: Buffer
  value: Buffer
  mayWrite: boolean
  keptDays: number
}

export type ReserveReply = Buffer | 'reserved' | 'no room' | 'other days' | 'more levels'

const replies = ['no room', 'reserved', 'other days', 'more levels'] as const

export type Reserve = (call: ReserveCall) => Promise<ReserveReply>

/** If Redis has lost the script, the client sends it again. */
export function defineReserve(redis: Redis): Reserve {
  redis.defineCommand('intakeReserve', { lua: script })
  const { intakeReserveBuffer } = redis as unknown as {
    intakeReserveBuffer: (...args: (Buffer | string | number)[]) => Promise<Buffer | 0 | 1 | 2 | 3>
  }
  return async ({ keys, firstDay, levels, field, value, mayWrite, keptDays }) => {
    const args = [firstDay, levels, field, value, mayWrite ? 1 : 0, keptDays]
    const reply = await intakeReserveBuffer.call(redis, keys.length, ...keys, ...args)
    return typeof reply === 'number' ? replies[reply] : reply
  }
}
