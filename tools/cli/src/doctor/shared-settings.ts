import { clickhouseCluster, digestShared, GatewayConfig, ObjectStoreConfig } from '@intake/config'
import { readSharedSettings, ReplyError, type Redis } from '@intake/redis'
import { loadConfig } from '@intake/runtime/config'
import { Type } from 'typebox'
import { degraded, finding, type Finding } from './finding.ts'

type Env = Record<string, string | undefined>

const { S3_BUCKET, S3_PREFIX } = ObjectStoreConfig.properties
/** The shared settings that commands have, too. */
const CommandConfig = Type.Object({
  S3_BUCKET,
  S3_PREFIX,
  CLICKHOUSE_CLUSTER: Type.Optional(clickhouseCluster),
  REDIS_ACK_REPLICAS: GatewayConfig.properties.REDIS_ACK_REPLICAS,
})

/** Compares the settings that processes must share. Those of `env` must be valid. */
export async function examineSharedSettings(redis: Redis, env: Env): Promise<Finding[]> {
  const digests = digestShared(CommandConfig, loadConfig(CommandConfig, env))
  try {
    const all = [...(await readSharedSettings(redis)), { service: 'this command', digests }]
    const names = new Set(all.flatMap((one) => Object.keys(one.digests)))
    return [...names].flatMap((name) => {
      const having = all.filter((one) => name in one.digests)
      if (new Set(having.map((one) => one.digests[name])).size === 1) return []
      const services = new Set(having.map(({ service }) => service))
      return [
        differing(
          `${name} is not the same in all processes that have it: ${[...services].toSorted().join(', ')}`,
          'Give all of them the same value. A process that was killed counts for half a minute.',
        ),
      ]
    })
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    return [
      differing(
        `the settings of the processes cannot be compared: ${(error as Error).message}`,
        'Give the user in REDIS_URL the rights that deploy/redis/users.acl grants operator.',
      ),
    ]
  }
}

const differing = (detail: string, change: string) =>
  degraded(finding('configuration', detail, change))
