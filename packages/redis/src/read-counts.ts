import type { Redis } from './connect.ts'
import { isDamaged } from './reply-code.ts'

/**
 * Reads a hash of counts by API key. A damaged hash counts as empty, so what it counted is missing
 * from the counts of all API keys.
 */
export async function readCounts(redis: Redis, key: string): Promise<Record<string, string>> {
  try {
    return await redis.hgetall(key)
  } catch (error) {
    if (error instanceof Error && isDamaged(error)) return {}
    throw error
  }
}
