import { execAll, installationKey, type Redis } from '@intake/redis'

/**
 * A UUID that changes with each change of the policy or of an API key, in the same step. It is one
 * key for both because Redis users that were set up for an earlier version may read and write it.
 */
export const revisionKey = '{intake}:policy:revision'

/**
 * Reads the revision, which also changes when Redis belongs to another installation.
 *
 * @throws {Error} if Redis belongs to no installation. It has then lost its data
 */
export async function readRevision(redis: Redis): Promise<string> {
  const reading = execAll(redis.multi().get(installationKey).get(revisionKey))
  const [mark, revision] = (await reading) as [string | null, string | null]
  if (mark === null) throw new Error('Redis belongs to no installation')
  return `${mark} ${revision ?? ''}`
}
