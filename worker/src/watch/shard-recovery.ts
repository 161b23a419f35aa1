import { restoreRegistry } from '@intake/queue'
import { readInstallation, type Redis } from '@intake/redis'
import { startPolling, withTimeout } from '@intake/runtime'

const minuteMs = 60_000
const timeoutMs = 10_000

/**
 * Restores registrations of shards that a failover of shard 0's server has lost. A running gateway
 * does so for its own shards within a second; this is for gateways that have ended.
 */
export function startShardRecovery(options: {
  redis: Redis
  isConfirmed: () => boolean
  intervalMs?: number
  onError: (error: unknown) => void
}): { close(): void } {
  const { redis, isConfirmed, intervalMs = minuteMs, onError } = options

  async function recover(): Promise<void> {
    const installation = await readInstallation(redis)
    if (installation !== null && isConfirmed()) await restoreRegistry(redis, installation)
  }

  return startPolling({
    async poll() {
      if (redis.status !== 'ready') return
      await withTimeout(recover(), timeoutMs, 'reading the marks of the shards')
    },
    intervalMs,
    onError,
  })
}
