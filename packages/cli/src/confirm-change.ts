import { GatewayConfig } from '@intake/config'
import { createReplicaAcks, mainTag, NotReplicatedError, type Redis } from '@intake/redis'
import { loadConfig } from '@intake/runtime'
import { Type } from 'typebox'

const Config = Type.Pick(GatewayConfig, ['REDIS_ACK_REPLICAS'])

/** The change is made, and too few replicas have confirmed it: a failover could undo it. */
export class UnconfirmedError extends Error {
  override name = 'UnconfirmedError'
}

/**
 * Makes a change in Redis, and resolves when as many replicas as gateways wait for have it.
 *
 * @throws {UnconfirmedError} when they do not confirm it within a second
 * @throws {ConfigError} `REDIS_ACK_REPLICAS` is wrong; nothing is changed
 */
export async function confirmChange<Result>(
  redis: Redis,
  change: () => Promise<Result>,
): Promise<Result> {
  const { REDIS_ACK_REPLICAS: replicas } = loadConfig(Config, process.env)
  if (replicas === 0) return change()
  // From here on the connection must stay the same one.
  await redis.exists(mainTag)
  try {
    return await createReplicaAcks({ redis, replicas }).confirm({ key: mainTag }, change)
  } catch (error) {
    if (!(error instanceof NotReplicatedError)) throw error
    throw new UnconfirmedError(
      `The change is made, but a failover of Redis could undo it; check it after one (${error.message}).`,
      { cause: error },
    )
  }
}
