import type { Redis } from '@intake/redis'
import {
  jobLists,
  jobSets,
  perQueue,
  queueKinds,
  queueNames,
  queueSettings,
  type QueueName,
} from './names.ts'
import { registryName, toShards } from './shards/shard-registry.ts'
import { shardMarkKey, shardPrefix } from './shards/shards.ts'

/** The content of one queue at one moment. */
export interface Backlog {
  /** Frames that no worker has claimed. */
  waiting: number
  /** Claimed frames, including those of a dead worker that are not redelivered yet. */
  active: number
  /** Postponed frames: unreadable by this version, or with rows that cannot be stored now. */
  delayed: number
  /** Rows of all these frames; estimated from a sample if a list has more than 2,000. */
  rows: number
  /** Bytes of the rows as JSON, before compression; an estimate like `rows`. */
  jsonBytes: number
  /** The Redis memory of all these frames, estimated from up to ten frames of each list. */
  redisBytes: number
  /** Whether an operator has paused the queue. No worker claims frames of a paused queue. */
  isPaused: boolean
  /** When the oldest row arrived, by the gateway's clock, in milliseconds since 1970. */
  oldestMs: number | undefined
  /** False if not every frame was read, or the id of a frame has no time. */
  isOldestExact: boolean
}

/** The content of the queues. For a queue with shards, it is the sum over all shards. */
export interface Backlogs {
  /**
   * Redis's clock in milliseconds since 1970, read before the shards: a frame that was queued at
   * this time and is found in no shard has been completed.
   */
  nowMs: number
  queues: Record<QueueName, Backlog>
  /** The content of each shard of the log queue, by number. */
  shards: { shard: number; frames: number; rows: number }[]
}

/**
 * Reads shard 0 and the queues without shards, at one moment, then the other shards. Resolves to
 * undefined if Redis, or the node of a shard, has no installation mark, and so has lost its frames.
 * Rejects if a shard cannot be read.
 *
 * @param options.framesMax how many frames of a list are read; of a longer list, at twenty places,
 * both ends included
 * @param options.turnMs if set, only one process reads within this time; others get undefined
 */
export type ReadBacklogs = (options?: {
  framesMax?: number
  turnMs?: number
}) => Promise<Backlogs | undefined>

const sampleFrames = 2_000
const places = 20
const weighedFrames = 10

/**
 * Reads the backlogs from the ids of jobs (see `createJobId`).
 *
 * KEYS: the mark of the installation, the turn, the registry of shards, then for each queue its
 * lists and sets and its state. ARGV: how long the turn lasts, in milliseconds, or 0; how many
 * frames of a list are read.
 *
 * Returns Redis's time, the registered shards, then for each queue: the length of each list and
 * set; how many frames have a time; rows and bytes (estimated for each list from a sample); the
 * oldest time or an empty string; the memory of all frames; whether the queue is paused.
 */
const script = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local time = redis.call('TIME')
if ARGV[1] ~= '0' then
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local taken = redis.call('SET', KEYS[2], now, 'NX', 'GET', 'PX', ARGV[1])
  -- After a step back of the clock, the key would live for as long as the step.
  if taken and tonumber(taken) <= now then return false end
  if taken then redis.call('SET', KEYS[2], now, 'PX', ARGV[1]) end
end
local framesMax = tonumber(ARGV[2])
local function measure(first)
  local lengths, timed, rows, bytes, oldest, memory = {}, 0, 0, 0, '', 0
  local state = KEYS[first + ${jobLists.length + jobSets.length}]
  local prefix = string.sub(state, 1, -string.len('${queueSettings}') - 1)
  for i = first, first + ${jobLists.length + jobSets.length - 1} do
    local isList = i < first + ${jobLists.length}
    local length = redis.call(isList and 'LLEN' or 'ZCARD', KEYS[i])
    lengths[#lengths + 1] = length
    local command = isList and 'LRANGE' or 'ZRANGE'
    local parts = {{0, -1}}
    local sampled = math.min(length, framesMax)
    if length > framesMax then
      parts = {}
      for place = 0, ${places - 1} do
        local from = math.floor(place * (length - framesMax / ${places}) / ${places - 1})
        parts[place + 1] = {from, from + framesMax / ${places} - 1}
      end
    end
    local every, n = math.ceil(sampled / ${sampleFrames}), 0
    local listSized, listRows, listBytes = 0, 0, 0
    local everyWeighed, weighed, weight = math.ceil(sampled / ${weighedFrames}), 0, 0
    for _, part in ipairs(parts) do
      for _, id in ipairs(redis.call(command, KEYS[i], part[1], part[2])) do
        if string.sub(id, 15, 15) == '7' then
          timed = timed + 1
          local time = string.sub(id, 1, 8) .. string.sub(id, 10, 13)
          if oldest == '' or time < oldest then oldest = time end
        end
        if n % every == 0 then
          local r, b = string.match(id, '%-(%d+)%-(%d+)$', 37)
          if r then
            listSized = listSized + 1
            listRows = listRows + r
            listBytes = listBytes + b
          end
        end
        if n % everyWeighed == 0 then
          weighed = weighed + 1
          weight = weight + (redis.call('MEMORY', 'USAGE', prefix .. id) or 0)
        end
        n = n + 1
      end
    end
    if listSized > 0 then
      rows = rows + math.floor(listRows * length / listSized + 0.5)
      bytes = bytes + math.floor(listBytes * length / listSized + 0.5)
    end
    if weighed > 0 then memory = memory + math.floor(weight / weighed * length) end
  end
  return {lengths, timed, rows, bytes, oldest, memory, redis.call('HEXISTS', state, 'paused')}
end
local reply = {time, redis.call('SMEMBERS', KEYS[3])}
for first = 4, #KEYS, ${jobLists.length + jobSets.length + 1} do reply[#reply + 1] = measure(first) end
return reply
`

type Reply = [[string, string], string[], ...QueueReply[]]
type QueueReply = [
  lengths: number[],
  timed: number,
  rows: number,
  bytes: number,
  oldest: string,
  memory: number,
  isPaused: number,
]

export function createBacklogReader({ redis }: { redis: Redis }): ReadBacklogs {
  const keysOf = (prefix: string, queues: readonly QueueName[]) => [
    `${prefix}:watermark:turn`,
    `${prefix}:${registryName}`,
    ...queues.flatMap((name) =>
      [...jobLists, ...jobSets, queueSettings].map(
        (list) => `${prefix}:${queueNames[name]}:${list}`,
      ),
    ),
  ]
  const read = (shard: number, queues: readonly QueueName[], args: readonly number[]) => {
    const keys = [shardMarkKey(shard), ...keysOf(shardPrefix(shard), queues)]
    return redis.eval(script, keys.length, ...keys, ...args) as Promise<Reply | null>
  }

  return async ({ framesMax = sampleFrames, turnMs = 0 } = {}) => {
    const reply = await read(0, queueKinds, [turnMs, framesMax])
    if (reply === null) return undefined
    const [[seconds, microseconds], registered, ...queues] = reply
    // The other shards are read after shard 0, as `nowMs` requires.
    const [, ...shards] = toShards(registered)
    const others = await Promise.all(shards.map((shard) => read(shard, ['logs'], [0, framesMax])))
    if (others.includes(null)) return undefined
    const backlogs = perQueue((name) => toBacklog(queues[queueKinds.indexOf(name)]!))
    const ofLogs = [backlogs.logs, ...others.map((other) => toBacklog(other![2]!))]
    return {
      nowMs: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
      queues: { ...backlogs, logs: ofLogs.reduce(together) },
      shards: ofLogs.map(({ waiting, active, delayed, rows }, index) => {
        return { shard: [0, ...shards][index]!, frames: waiting + active + delayed, rows }
      }),
    }
  }
}

function together(one: Backlog, other: Backlog): Backlog {
  const times = [one.oldestMs, other.oldestMs].filter((time) => time !== undefined)
  return {
    waiting: one.waiting + other.waiting,
    active: one.active + other.active,
    delayed: one.delayed + other.delayed,
    rows: one.rows + other.rows,
    jsonBytes: one.jsonBytes + other.jsonBytes,
    redisBytes: one.redisBytes + other.redisBytes,
    isPaused: one.isPaused || other.isPaused,
    oldestMs: times.length === 0 ? undefined : Math.min(...times),
    isOldestExact: one.isOldestExact && other.isOldestExact,
  }
}

function toBacklog(reply: QueueReply): Backlog {
  const [lengths, timed, rows, bytes, oldest, memory, isPaused] = reply
  const frames = lengths.reduce((sum, length) => sum + length, 0)
  const [waiting = 0, paused = 0, active = 0, delayed = 0, prioritized = 0, failed = 0] = lengths
  return {
    waiting: waiting + paused + prioritized,
    active,
    delayed: delayed + failed,
    rows,
    jsonBytes: bytes,
    redisBytes: memory,
    isPaused: isPaused === 1,
    oldestMs: oldest === '' ? undefined : Number.parseInt(oldest, 16),
    isOldestExact: timed === frames,
  }
}
