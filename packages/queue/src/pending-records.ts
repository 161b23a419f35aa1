import { kinds, type RecordKind } from '@intake/contract'
import { installationKey, type Redis } from '@intake/redis'
import { jobLists, jobSets, queueNames, queuePrefix } from './names.ts'

/** What the queues held at one moment. */
export interface PendingRecords {
  /** Redis's clock at that moment, in milliseconds since 1970. */
  nowMs: number
  /**
   * When the oldest record in each queue arrived: the gateway's clock, in milliseconds since 1970.
   * `Infinity` when the queue was empty, `-Infinity` when it had too many frames to look at.
   */
  oldestMs: Record<RecordKind, number>
}

/** Redis takes 5 ms for so many; a longer backlog is not looked at. */
const framesMax = 20_000

/**
 * The id of a job is a UUIDv7 with the time of its oldest record. An id without a time may be of any
 * age. Whoever sets the turn, which expires, reads; without the mark of an installation Redis has lost
 * its frames, and nothing is read.
 *
 * KEYS: the mark, the turn, then the lists and sets of each kind. ARGV: how long the turn lasts, in
 * milliseconds. Returns Redis's time, then for each kind the oldest time, `none` or `unknown`.
 */
const script = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[1]) then return false end
local function oldest(first)
  local count = 0
  for i = first, first + ${jobLists.length - 1} do count = count + redis.call('LLEN', KEYS[i]) end
  for i = first + ${jobLists.length}, first + ${jobLists.length + jobSets.length - 1} do
    count = count + redis.call('ZCARD', KEYS[i])
  end
  if count == 0 then return 'none' end
  if count > ${framesMax} then return 'unknown' end
  local found
  for i = first, first + ${jobLists.length + jobSets.length - 1} do
    local command = i < first + ${jobLists.length} and 'LRANGE' or 'ZRANGE'
    for _, id in ipairs(redis.call(command, KEYS[i], 0, -1)) do
      if string.sub(id, 15, 15) ~= '7' then return 'unknown' end
      local time = string.sub(id, 1, 8) .. string.sub(id, 10, 13)
      if not found or time < found then found = time end
    end
  end
  return found
end
local reply = redis.call('TIME')
for first = 3, #KEYS, ${jobLists.length + jobSets.length} do reply[#reply + 1] = oldest(first) end
return reply
`

/**
 * Returns a function that reads what the queues hold, all at one moment. It resolves to undefined when
 * another process has read it less than `turnMs` ago, or when Redis belongs to no installation.
 */
export function definePendingRecords(options: {
  redis: Redis
  turnMs: number
}): () => Promise<PendingRecords | undefined> {
  const { redis, turnMs } = options
  redis.defineCommand('intakePendingRecords', { lua: script })
  const { intakePendingRecords } = redis as unknown as {
    intakePendingRecords: (...args: (string | number)[]) => Promise<string[] | null>
  }
  const keys = [
    installationKey,
    `${queuePrefix}:watermark:turn`,
    ...kinds.flatMap((kind) =>
      [...jobLists, ...jobSets].map((list) => `${queuePrefix}:${queueNames[kind]}:${list}`),
    ),
  ]

  return async () => {
    const reply = await intakePendingRecords.call(redis, keys.length, ...keys, turnMs)
    if (reply === null) return undefined
    const [seconds, microseconds, ...oldest] = reply
    const times = kinds.map((kind, index) => [kind, parseTime(oldest[index])] as const)
    return {
      nowMs: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
      oldestMs: Object.fromEntries(times) as Record<RecordKind, number>,
    }
  }
}

function parseTime(text: string | undefined): number {
  if (text === 'none') return Infinity
  const timeMs = Number.parseInt(text ?? '', 16)
  return Number.isNaN(timeMs) ? -Infinity : timeMs
}
