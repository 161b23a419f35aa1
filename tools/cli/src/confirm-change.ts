import { GatewayConfig } from '@intake/config'
import { createReplicaAcks, mainTag, NotReplicatedError, type Redis } from '@intake/redis'
import { loadConfig } from '@intake/runtime/config'
import { Type } from 'typebox'

/** A repeated change may find nothing to write; replicas must have it all the same. */
const confirming = { key: mainTag, hasWritten: () => false }

const Config = Type.Pick(GatewayConfig, ['REDIS_ACK_REPLICAS'])

/** The change was made, but a failover could undo it: too few replicas have confirmed it. */
export class UnconfirmedError extends Error {
  override name = 'UnconfirmedError'
}

/** How many replicas must have what gateways acknowledge, and what commands change. */
export const ackReplicas = (): number => loadConfig(Config, process.env).REDIS_ACK_REPLICAS

/** Makes a change in Redis. Resolves when as many replicas have it as gateways require. */
export async function confirmChange<Result>(
  redis: Redis,
  change: () => Promise<Result>,
): Promise<Result> {
  const replicas = ackReplicas()
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
