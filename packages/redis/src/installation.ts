import type { Redis } from './connect.ts'
import { execAll } from './replies.ts'
import { mainTag } from './servers.ts'

/** The mark that setup writes once. A Redis without it is new or has lost its data. */
export const installationKey = installationKeyOf(mainTag)

/** Returns the key of the mark for one hash tag: in a cluster each server has a mark. */
export function installationKeyOf(tag: string): string {
  return `${tag}:installation`
}

export async function readInstallation(redis: Redis): Promise<string | null> {
  return redis.get(installationKey)
}

/** Writes a mark, unless there is one. Resolves to the mark that Redis has then. */
export async function claimInstallation(redis: Redis, installation: string): Promise<string> {
  return (await redis.set(installationKey, installation, 'NX', 'GET')) ?? installation
}

/**
 * Reads the fields and values of a hash, one after the other: an object of 100,000 fields would
 * block the process.
 *
 * @throws {Error} if Redis belongs to no installation: it has lost its data, and an empty result
 * would be wrong
 */
export async function readInstallationHash(
  redis: Redis,
  key: string,
): Promise<Iterable<[field: string, value: string]>> {
  // ioredis converts the reply of `hgetall`, but not of `call`.
  const [mark, flat] = await execAll(redis.multi().get(installationKey).call('HGETALL', key))
  if (mark == null) throw new Error('Redis belongs to no installation')
  return pairs(flat as string[])
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at < flat.length; at += 2) yield [flat[at]!, flat[at + 1]!]
}
