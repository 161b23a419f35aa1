import { ReplyError, type Redis } from './connect.ts'

const required = {
  appendonly: 'yes',
  appendfsync: 'always',
  // Otherwise nothing is synced while Redis rewrites its log, whatever appendfsync says.
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}

/**
 * Why this Redis could lose data that it has confirmed, in words for an operator; empty: it could not.
 */
export async function findDurabilityViolations(redis: Redis): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(required).map(async ([name, wanted]) => {
      const actual = await readSetting(redis, name)
      return actual === wanted ? [] : [`Redis has ${name} ${actual}, not ${wanted}`]
    }),
  )
  return found.flat()
}

/** A managed Redis may not allow `CONFIG GET`; a setting that cannot be read counts as wrong. */
async function readSetting(redis: Redis, name: string): Promise<string> {
  try {
    const [, value] = await redis.config('GET', name)
    return value ?? 'unknown'
  } catch (error) {
    if (error instanceof ReplyError) return 'unknown'
    throw error
  }
}
