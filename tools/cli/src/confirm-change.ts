import { GatewayConfig } from '@intake/config'
import { createReplicaAcks, mainTag, NotReplicatedError, type Redis } from '@intake/redis'
import { loadConfig } from '@intake/runtime/config'
import { Type } from 'typebox'

/**
 * The options of each confirmation. A repeated change, such as the second attempt after an
 * `UnconfirmedError`, may find nothing to write; replicas must have it all the same.
 */
const confirming = { key: mainTag, hasWritten: () => false }

const Config = Type.Pick(GatewayConfig, ['REDIS_ACK_REPLICAS'])

/**
 * Thrown when a change was made, but too few replicas have confirmed it. A failover could undo such
 * a change.
 */
export class UnconfirmedError extends Error {
  override name = 'UnconfirmedError'
}

/**
 * Makes a change in Redis. Resolves when it is confirmed by the number of replicas that gateways
 * require.
 *
 * @throws {UnconfirmedError} when fewer replicas confirm it within a second
 * @throws {ConfigError} if `REDIS_ACK_REPLICAS` is wrong; nothing is changed
 */
export async function confirmChange<Result>(
  redis: Redis,
  change: () => Promise<Result>,
): Promise<Result> {
  const { REDIS_ACK_REPLICAS: replicas } = loadConfig(Config, process.env)
  if (replicas === 0) return change()
  // Connects first, because the change and its confirmation must use the same connection.
  await redis.exists(mainTag)
  try {
    return await createReplicaAcks({ redis, replicas }).confirm(confirming, change)
  } catch (error) {
    if (!(error instanceof NotReplicatedError)) throw error
    throw new UnconfirmedError(
      `The change is made, but a failover of Redis could undo it; check it after a failover (${error.message}).`,
      { cause: error },
    )
  }
}
