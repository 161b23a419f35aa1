import { pollCheck } from '@intake/health'
import {
  findWriteRefusal,
  requireConnection,
  requireMemory,
  whileConnected,
  type Redis,
} from '@intake/redis'

/** Checks whether the servers with keys of certain hash tags accept writes and have memory left. */
export function startRedisChecks(options: {
  redis: Redis
  tags: () => Promise<readonly string[]>
  intervalMs: number
  timeoutMs: number
}) {
  const { redis, tags: readTags, ...times } = options
  const start = (check: (tags: readonly string[]) => Promise<void>) =>
    pollCheck({
      what: 'Redis',
      check: whileConnected(redis, async () => {
        const tags = await readTags()
        if (tags.length > 0) await check(tags)
      }),
      ...times,
    })

  const writes = start(async (tags) => {
    // Rejects if a server is not connected, because a command would wait for the server.
    await Promise.all(tags.map((tag) => requireConnection(redis, tag)))
    const reason = await findWriteRefusal(redis, { tags })
    if (reason !== undefined) throw new Error(reason)
  })
  const memory = start((tags) => requireMemory(redis, tags))
  return {
    writes,
    memory,
    close(): void {
      writes.close()
      memory.close()
    },
  }
}
