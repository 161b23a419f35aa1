import { isDamaged, type Redis } from '@intake/redis'

/** The requests of one API key in its current window. */
export interface RateCount {
  requests: number
  /** Milliseconds until the window ends. */
  msLeft: number
}

/** The request counts that the gateways share. */
export interface RateCounts {
  /**
   * Adds requests, and resolves to the totals of the same keys. The window of a key begins when its
   * first requests are added.
   */
  add(counted: readonly { apiKeyId: string; requests: number }[]): Promise<RateCount[]>
}

type Reply = [error: Error | null, reply: unknown]

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
      const replies = await adding.exec()
      if (replies === null) throw new Error('Redis has discarded the transaction')
      return Promise.all(
        counted.map(async ({ apiKeyId, requests }, index) => {
          const [, [error, sum], [, msLeft]] = replies.slice(index * 3) as [Reply, Reply, Reply]
          // A damaged count, or one without an expiry, would not recover by itself, and its key's
          // requests would fail with all the others.
          if (error === null ? Number(msLeft) < 0 : isDamaged(error)) {
            await redis.set(key(apiKeyId), requests, 'PX', windowMs)
            return { requests, msLeft: windowMs }
          }
          if (error !== null) throw error
          return { requests: Number(sum), msLeft: Number(msLeft) }
        }),
      )
    },
  }
}
