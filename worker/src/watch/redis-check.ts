import { pollCheck } from '@intake/health'
import {
  findWriteRefusal,
  requireConnection,
  requireMemory,
  whileConnected,
  type Redis,
} from '@intake/redis'

/** Checks whether the servers with keys of certain hash tags accept writes and have memory left. */
export const startRedisCheck = (options: {
  redis: Redis
  tags: () => Promise<readonly string[]>
  intervalMs: number
  timeoutMs: number
}) =>
  pollCheck({
    ...options,
    what: 'Redis',
    check: whileConnected(options.redis, async () => {
      const { redis } = options
      const tags = await options.tags()
      // Rejects if a server is not connected, because a command would wait for the server.
      await Promise.all(tags.map((tag) => requireConnection(redis, tag)))
      const reason = await findWriteRefusal(redis, { tags })
      if (reason !== undefined) throw new Error(reason)
      await requireMemory(redis, tags)
    }),
  })
