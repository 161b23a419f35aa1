import { sharedCountKey } from '@intake/access'
import { execEach, isDamaged, type Redis } from '@intake/redis'

export interface SharedCount {
  total: number
  msLeft: number
}

export interface SharedCounts {
  /** Resolves to the totals. A window begins when something is first added to its count. */
  add(
    counted: readonly { name: string; amount: number; windowMs: number }[],
  ): Promise<SharedCount[]>
}

type Reply = [error: Error | null, reply: unknown]

/** @param options.redis a connection of role `producer`, whose commands have a timeout */
export function createSharedCounts({ redis }: { redis: Redis }): SharedCounts {
  return {
    async add(counted) {
      const adding = redis.multi()
      for (const { name, amount, windowMs } of counted) {
        adding
          .set(sharedCountKey(name), 0, 'PX', windowMs, 'NX')
          .incrby(sharedCountKey(name), amount)
          .pttl(sharedCountKey(name))
      }
      const replies = await execEach(adding)
      return Promise.all(
        counted.map(async ({ name, amount, windowMs }, index) => {
          const [, [error, sum], [, msLeft]] = replies.slice(index * 3) as [Reply, Reply, Reply]
          // A damaged count, or one without an expiry, would never recover by itself, one from before
          // the clock of Redis stepped back only late, so it is replaced. Throwing its error would
          // also fail the other counts of this call.
          const hasEnd = Number(msLeft) >= 0 && Number(msLeft) <= windowMs
          if (error === null ? !hasEnd : isDamaged(error)) {
            await redis.set(sharedCountKey(name), amount, 'PX', windowMs)
            return { total: amount, msLeft: windowMs }
          }
          if (error !== null) throw error
          return { total: Number(sum), msLeft: Number(msLeft) }
        }),
      )
    },
  }
}
