import type { Redis } from './connect.ts'

/** Written once when an installation is set up. If it is missing, Redis has lost its data. */
const installationKey = '{intake}:installation'

export async function readInstallation(redis: Redis): Promise<string | null> {
  return redis.get(installationKey)
}

/** Marks this Redis unless it is already marked; resolves to its mark. */
export async function claimInstallation(redis: Redis, installation: string): Promise<string> {
  return (await redis.set(installationKey, installation, 'NX', 'GET')) ?? installation
}

/**
 * Reads a hash of the installation.
 *
 * @throws {Error} Redis belongs to no installation: it has lost its data, so an empty hash would be wrong
 */
export async function readInstallationHash(
  redis: Redis,
  key: string,
): Promise<Record<string, string>> {
  const [mark, hash] = (await redis.multi().get(installationKey).hgetall(key).exec()) ?? []
  if (mark?.[1] == null) throw new Error('Redis belongs to no installation')
  if (hash?.[0] != null) throw hash[0]
  return hash?.[1] as Record<string, string>
}
