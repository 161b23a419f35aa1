import { ReplyError, type Redis } from './connect.ts'

const required = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' }

/** Why this Redis could lose what it has confirmed, in words for an operator; empty: it could not. */
export async function findDurabilityViolations(redis: Redis): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(required).map(async ([name, wanted]) => {
      const actual = await readSetting(redis, name)
      return actual === wanted ? [] : [`Redis has ${name} ${actual}, not ${wanted}`]
    }),
  )
  return found.flat()
}

/** A managed Redis may not allow to ask; what cannot be checked counts as not set. */
async function readSetting(redis: Redis, name: string): Promise<string> {
  try {
    const [, value] = await redis.config('GET', name)
    return value ?? 'unknown'
  } catch (error) {
    if (error instanceof ReplyError) return 'unknown'
    throw error
  }
}
