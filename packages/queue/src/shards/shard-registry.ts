import { execAll, installationKey, type Redis } from '@intake/redis'
import { queuePrefix } from '../names.ts'
import { shardMarkKey, shardsMax } from './shards.ts'

export const registryName = 'shards'

/**
 * A set of the numbers of all shards, except 0, that ever got a frame. A gateway adds a shard
 * before its first frame, and none is ever removed: every reader looks for frames in all of them,
 * even if it uses fewer.
 */
const registryKey = `${queuePrefix}:${registryName}`

/**
 * - `ready`: registered and marked; frames may be added.
 * - `lost`: its mark is missing, or belongs to another installation: it has lost its frames.
 * - `unowned`: Redis belongs to no installation, so nothing can be registered.
 */
export type ShardState = 'ready' | 'lost' | 'unowned'

/** Resolves to the shards that may hold frames, in order; always includes 0. */
export async function readShards(redis: Redis): Promise<number[]> {
  return toShards(await redis.smembers(registryKey))
}

/**
 * Returns shard 0 and those in the registry. Leaves out numbers of a later version, whose tags are
 * unknown, and other notations such as `01`, with which frames would be counted twice.
 */
export function toShards(members: readonly string[]): number[] {
  const numbers = members.filter((member) => /^[1-9]\d*$/.test(member)).map(Number)
  const known = numbers.filter((shard) => shard < shardsMax)
  return [0, ...known.toSorted((one, other) => one - other)]
}

/** Registers a shard. May be repeated, by any number of gateways. */
export async function registerShard(redis: Redis, shard: number): Promise<ShardState> {
  const reads = redis.multi().get(installationKey).sismember(registryKey, String(shard))
  const [[installation, isRegistered], mark] = (await Promise.all([
    execAll(reads),
    redis.get(shardMarkKey(shard)),
  ])) as [[string | null, number], string | null]
  if (installation === null) return 'unowned'
  if (mark !== null && mark !== installation) return 'lost'
  if (shard === 0 || isRegistered === 1) return mark === null ? 'lost' : 'ready'
  // Marks first: a registered shard without a mark counts as lost. SETNX, because the Redis user of
  // gateways may not replace a mark (deploy/redis/users.acl).
  if (mark === null) await redis.setnx(shardMarkKey(shard), installation)
  await redis.sadd(registryKey, String(shard))
  return 'ready'
}

/** Finds shards whose marks are missing or of another installation; default: of all. */
export async function findLostShards(
  redis: Redis,
  installation: string,
  asked?: readonly number[],
): Promise<number[]> {
  const shards = asked ?? (await readShards(redis))
  const marks = await Promise.all(shards.map((shard) => redis.get(shardMarkKey(shard))))
  return shards.filter((_, index) => marks[index] !== installation)
}

/** Marks shards that have lost their frames, so that they get new frames. */
export async function markShards(
  redis: Redis,
  shards: readonly number[],
  installation: string,
): Promise<void> {
  await Promise.all(shards.map((shard) => redis.set(shardMarkKey(shard), installation)))
}

/** Registers every shard with the mark of this installation: shard 0 may have lost the registry. */
export async function restoreRegistry(redis: Redis, installation: string): Promise<void> {
  const others = Array.from({ length: shardsMax - 1 }, (_, index) => index + 1)
  const marks = await Promise.all(others.map((shard) => redis.get(shardMarkKey(shard))))
  const registered = await readShards(redis)
  const missing = others.filter(
    (shard, index) => marks[index] === installation && !registered.includes(shard),
  )
  if (missing.length > 0) await redis.sadd(registryKey, ...missing.map(String))
}
