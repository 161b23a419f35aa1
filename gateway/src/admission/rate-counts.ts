import { execAll, type Redis } from '@intake/redis'

/** The requests of one API key in its current window. */
export interface RateCount {
  requests: number
  /** Until the window ends. */
  msLeft: number
}

/** What all gateways have counted. */
export interface RateCounts {
  /**
   * Adds requests, and resolves to the counts of the same keys. The window of a key begins when its first
   * requests are added.
   */
  add(counted: readonly { apiKeyId: string; requests: number }[]): Promise<RateCount[]>
}

const key = (apiKeyId: string) => `{intake}:rate:${apiKeyId}`

/** @param options.redis a connection of role `producer`, whose commands have a timeout */
export function createRateCounts(options: { redis: Redis; windowMs: number }): RateCounts {
  const { redis, windowMs } = options
  return {
    async add(counted) {
      const adding = redis.multi()
      for (const { apiKeyId, requests } of counted) {
        adding
          .set(key(apiKeyId), 0, 'PX', windowMs, 'NX')
          .incrby(key(apiKeyId), requests)
          .pttl(key(apiKeyId))
      }
      const replies = await execAll(adding)
      return counted.map((_, index) => ({
        requests: Number(replies[index * 3 + 1]),
        msLeft: Math.max(0, Number(replies[index * 3 + 2])),
      }))
    },
  }
}
