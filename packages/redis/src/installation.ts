import type { Redis } from './connect.ts'
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
 * Reads the fields and values of a hash, one after the other. ioredis converts a whole reply at once,
 * which would block the process for 20 ms with 100,000 fields: here each buffer is converted when it
 * is taken.
 *
 * @throws {Error} if Redis belongs to no installation: it has lost its data, and an empty result
 * would be wrong
 */
export async function readInstallationHash(
  redis: Redis,
  key: string,
): Promise<Iterable<[field: string, value: string]>> {
  const flat = await redis.callBuffer('HGETALL', key)
  // Read after the hash: what was lost before has no mark either.
  if ((await readInstallation(redis)) === null) throw new Error('Redis belongs to no installation')
  return pairs(flat as Buffer[])
}

function* pairs(flat: readonly Buffer[]): Generator<[string, string]> {
  for (let at = 0; at < flat.length; at += 2) yield [flat[at]!.toString(), flat[at + 1]!.toString()]
}
