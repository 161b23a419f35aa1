import type { Test } from 'tap'
import { connectRedis, type Redis, type RedisRole } from '@intake/redis'

/** Opens a connection that ends with the test, and whose errors are ignored. */
export function openRedis(
  t: Pick<Test, 'teardown'>,
  { url }: { url: string },
  role: RedisRole = 'consumer',
): Redis {
  const redis = connectRedis({ url, role, onError: () => {} })
  t.teardown(() => redis.disconnect())
  return redis
}
