import { createReplicaAcks, mainTag, NotReplicatedError, type Redis } from '@intake/redis'

/**
 * Resolves when as many replicas as `REDIS_ACK_REPLICAS` in the environment have what was written through this
 * connection; at once without that setting.
 *
 * @throws {Error} when they do not confirm it within a second
 */
export async function confirmChange(redis: Redis): Promise<void> {
  const replicas = Number(process.env['REDIS_ACK_REPLICAS']) || 0
  if (replicas === 0) return
  const { confirm } = createReplicaAcks({ redis, replicas })
  try {
    await confirm({ key: mainTag, hasWritten: () => false }, () => redis.exists(mainTag))
  } catch (error) {
    if (!(error instanceof NotReplicatedError)) throw error
    throw new Error(
      `The change is made, but a failover of Redis could undo it; check it after one (${error.message}).`,
      { cause: error },
    )
  }
}
