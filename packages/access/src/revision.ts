import { execAll, installationKey, type Redis } from '@intake/redis'

/** A UUID that changes in one step with the policy or an API key. */
export const revisionKey = '{intake}:policy:revision'

/**
 * The revision also changes when Redis belongs to another installation.
 *
 * @throws {Error} if Redis belongs to no installation: it has lost its data
 */
export async function readRevision(redis: Redis): Promise<string> {
  const reading = execAll(redis.multi().get(installationKey).get(revisionKey))
  const [mark, revision] = (await reading) as [string | null, string | null]
  if (mark === null) throw new Error('Redis belongs to no installation')
  return `${mark} ${revision ?? ''}`
}
