import type { Redis } from '@intake/redis'
import { startPolling, systemClock, withTimeout } from '@intake/runtime'
import { registerShard, type ShardState } from './shard-registry.ts'
import { shardMarkKey } from './shards.ts'

const intervalMs = 1_000
const responseMs = 1_500
/** How long a shard is usable after its last successful poll: one poll may fail. */
const freshMs = 5_000

/** Registers the shards of a gateway and polls each of them every second, on its own. */
export function startShardHealth(options: {
  redis: Redis
  shards: number
  onError: (error: unknown) => void
}) {
  const { redis, onError } = options
  const numbers = Array.from({ length: options.shards }, (_, shard) => shard)
  const known = new Map<number, { state: ShardState; at: number }>()
  const startedAt = systemClock.now()

  async function ask(shard: number): Promise<ShardState> {
    const bounded = <Reply>(reply: Promise<Reply>) =>
      withTimeout(reply, responseMs, `shard ${shard}`)
    try {
      return await bounded(registerShard(redis, shard))
    } catch (error) {
      // Perhaps only the registry's node, that of shard 0, is down, which the others do not need.
      if (known.get(shard)?.state !== 'ready') throw error
      if ((await bounded(redis.exists(shardMarkKey(shard)))) === 0) throw error
      return 'ready'
    }
  }

  const polls = numbers.map((shard) =>
    startPolling({
      async poll() {
        const state = await ask(shard)
        known.set(shard, { state, at: systemClock.now() })
      },
      intervalMs,
      onError,
    }),
  )

  const isSilent = (shard: number) =>
    systemClock.now() - (known.get(shard)?.at ?? startedAt) > freshMs

  return {
    /** Whether the shard is registered and its node has responded recently. */
    isUsable: (shard: number): boolean => known.get(shard)?.state === 'ready' && !isSilent(shard),
    lost: (): number[] => numbers.filter((shard) => known.get(shard)?.state === 'lost'),
    close(): void {
      for (const poll of polls) poll.close()
    },
  }
}
