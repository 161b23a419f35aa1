import { ReplyError, type Redis } from './connect.ts'

/** What is known of a Redis from the outside, at most `intervalMs` old while it answers. */
export interface RedisState {
  /** Why it could lose what it has confirmed, in words for an operator; empty: it could not. */
  hazards: string[]
  /** Used share of `maxmemory`, or without that of the machine's memory, from 0 to 1. */
  memoryUsed: number
  /** `maxmemory`, or without that the memory of the machine. */
  memoryBytesMax: number
  /** The installation that this Redis belongs to; null when it is new or has lost its data. */
  installation: string | null
}

export interface RedisWatch {
  /** Undefined until Redis has answered once. */
  state(): RedisState | undefined
  close(): void
}

/** Written once when an installation is set up; its absence means that the data is gone. */
export const installationKey = '{intake}:installation'

const required = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' }
const configIntervalMs = 60_000
const firstRetryMs = 100

/**
 * Asks Redis every `intervalMs` for its memory and its installation, and every minute for its
 * configuration; before the first answer more often at the start. While Redis is away, the last known
 * state stays.
 *
 * @param options.onHazards told every minute while there are some
 */
export function watchRedis(options: {
  redis: Redis
  intervalMs: number
  onHazards: (hazards: string[]) => void
  onError: (error: unknown) => void
}): RedisWatch {
  const { redis, intervalMs } = options
  let state: RedisState | undefined
  let hazards: string[] = []
  let configReadAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function look(retryMs: number): Promise<void> {
    try {
      if (performance.now() - configReadAt >= configIntervalMs) {
        hazards = await findHazards(redis)
        configReadAt = performance.now()
        if (hazards.length > 0) options.onHazards(hazards)
      }
      const [memory, installation] = await Promise.all([
        redis.info('memory'),
        redis.get(installationKey),
      ])
      state = { hazards, ...memoryOf(memory), installation }
    } catch (error) {
      // It may be another Redis that answers next.
      configReadAt = -Infinity
      options.onError(error)
    }
    const nextRetryMs = Math.min(2 * retryMs, intervalMs)
    const pauseMs = state === undefined ? retryMs : intervalMs
    if (!closed) timer = setTimeout(() => void look(nextRetryMs), pauseMs)
  }
  void look(firstRetryMs)

  return {
    state: () => state,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

export async function readInstallation(redis: Redis): Promise<string | null> {
  return redis.get(installationKey)
}

/** Marks this Redis unless it is marked already; resolves to the mark it has then. */
export async function claimInstallation(redis: Redis, installation: string): Promise<string> {
  return (await redis.set(installationKey, installation, 'NX', 'GET')) ?? installation
}

async function findHazards(redis: Redis): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(required).map(async ([name, wanted]) => {
      const actual = await readSetting(redis, name)
      return actual === wanted ? [] : [`Redis has ${name} ${actual}, not ${wanted}`]
    }),
  )
  return found.flat()
}

/** A managed Redis may not allow to ask; what cannot be checked counts as not set. */
async function readSetting(redis: Redis, name: string): Promise<string> {
  try {
    const [, value] = await redis.config('GET', name)
    return value ?? 'unknown'
  } catch (error) {
    if (error instanceof ReplyError) return 'unknown'
    throw error
  }
}

function memoryOf(info: string): Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'> {
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}
