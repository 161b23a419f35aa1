import { installationKey, type Redis } from '@intake/redis'
import { jobLists, jobSets, queueNames, queuePrefix, type QueueName } from './names.ts'

/** What one queue held at one moment. */
export interface Backlog {
  /** Frames that no worker has claimed. */
  waiting: number
  /** Claimed, or claimed by a dead worker and not redelivered yet. */
  active: number
  /** Postponed: unreadable for this version, or with rows that cannot be stored now. */
  delayed: number
  /** Rows of all these frames. */
  rows: number
  /** Bytes of the rows as JSON, before compression. */
  jsonBytes: number
  /** When the oldest row arrived: the gateway's clock, in milliseconds since 1970. */
  oldestMs: number | undefined
  /**
   * False when rows, bytes and the oldest time are estimates: the queue is too long to look at every
   * frame, or a frame does not tell.
   */
  isExact: boolean
}

/** What the queues held at one moment. */
export interface Backlogs {
  /** Redis's clock at that moment, in milliseconds since 1970. */
  nowMs: number
  queues: Record<QueueName, Backlog>
}

/**
 * Reads what the queues hold, all at one moment. Resolves to undefined when Redis belongs to no
 * installation: then it has lost its frames.
 *
 * @param turnMs resolves to undefined, too, when another process has read in its turn less than so many
 * milliseconds ago
 */
export type ReadBacklogs = (turnMs?: number) => Promise<Backlogs | undefined>

/** Of each list at most so many frames are looked at, half of them at each end. Redis takes some milliseconds. */
const framesMax = 20_000

/**
 * The id of a job tells the time of its oldest row, its rows and bytes (see `createJobId`).
 *
 * KEYS: the mark of the installation, the turn, then the lists and sets of each queue. ARGV: how long
 * the turn lasts, in milliseconds, or 0. Returns Redis's time, then for each queue: the length of each
 * list and set, how many frames were looked at, how many of these tell rows and bytes, how many tell a
 * time, the sum of rows and of bytes, and the oldest time or an empty string.
 */
const script = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
if ARGV[1] ~= '0' and not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[1]) then return false end
local function look(first)
  local lengths, seen, sized, timed, rows, bytes, oldest = {}, 0, 0, 0, 0, 0, ''
  local function add(id)
    seen = seen + 1
    local a, b, rest = string.match(id, '^(%x%x%x%x%x%x%x%x)%-(%x%x%x%x)%-7%x%x%x%-%x%x%x%x%-%x+(.*)$')
    if not a then return end
    timed = timed + 1
    if oldest == '' or a .. b < oldest then oldest = a .. b end
    local r, s = string.match(rest, '^%-(%d+)%-(%d+)$')
    if not r then return end
    sized = sized + 1
    rows = rows + r
    bytes = bytes + s
  end
  for i = first, first + ${jobLists.length + jobSets.length - 1} do
    local isList = i < first + ${jobLists.length}
    local length = redis.call(isList and 'LLEN' or 'ZCARD', KEYS[i])
    lengths[#lengths + 1] = length
    local command = isList and 'LRANGE' or 'ZRANGE'
    local parts = {{0, -1}}
    if length > ${framesMax} then parts = {{0, ${framesMax / 2 - 1}}, {${-framesMax / 2}, -1}} end
    for _, part in ipairs(parts) do
      for _, id in ipairs(redis.call(command, KEYS[i], part[1], part[2])) do add(id) end
    end
  end
  return {lengths, seen, sized, timed, rows, bytes, oldest}
end
local reply = {redis.call('TIME')}
for first = 3, #KEYS, ${jobLists.length + jobSets.length} do reply[#reply + 1] = look(first) end
return reply
`

type Reply = [[string, string], ...QueueReply[]]
type QueueReply = [
  lengths: number[],
  seen: number,
  sized: number,
  timed: number,
  rows: number,
  bytes: number,
  oldest: string,
]

export function defineReadBacklogs({ redis }: { redis: Redis }): ReadBacklogs {
  redis.defineCommand('intakeBacklogs', { lua: script })
  const { intakeBacklogs } = redis as unknown as {
    intakeBacklogs: (...args: (string | number)[]) => Promise<Reply | null>
  }
  const names = Object.keys(queueNames) as QueueName[]
  const keys = [
    installationKey,
    `${queuePrefix}:watermark:turn`,
    ...names.flatMap((name) =>
      [...jobLists, ...jobSets].map((list) => `${queuePrefix}:${queueNames[name]}:${list}`),
    ),
  ]

  return async (turnMs = 0) => {
    const reply = await intakeBacklogs.call(redis, keys.length, ...keys, turnMs)
    if (reply === null) return undefined
    const [[seconds, microseconds], ...queues] = reply
    const backlogs = names.map((name, index) => [name, toBacklog(queues[index]!)] as const)
    return {
      nowMs: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
      queues: Object.fromEntries(backlogs) as Record<QueueName, Backlog>,
    }
  }
}

function toBacklog([lengths, seen, sized, timed, rows, bytes, oldest]: QueueReply): Backlog {
  const frames = lengths.reduce((sum, length) => sum + length, 0)
  const [waiting = 0, paused = 0, active = 0, delayed = 0, prioritized = 0, failed = 0] = lengths
  const perFrame = sized === 0 ? 0 : frames / sized
  return {
    waiting: waiting + paused + prioritized,
    active,
    delayed: delayed + failed,
    rows: Math.round(rows * perFrame),
    jsonBytes: Math.round(bytes * perFrame),
    oldestMs: oldest === '' ? undefined : Number.parseInt(oldest, 16),
    isExact: seen === frames && sized === frames && timed === frames,
  }
}
