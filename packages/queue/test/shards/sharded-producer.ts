import type { Test } from 'tap'
import {
  claimInstallation,
  connectRedis,
  createExamination,
  createReplicaAcks,
  pollRedisState,
  type Redis,
} from '@intake/redis'
import { systemClock } from '@intake/runtime'
import type { RedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { compress } from '@intake/queue/frame'
import { shardPrefix, startShardHealth } from '../../src/index.ts'
import { createJobSink, createShardedProducer } from '../../src/produce.ts'

export const shards = [0, 1, 2, 3]
export const tags = shards.map(shardPrefix)

const onError = () => {}
const row = Buffer.from('{"a":1}\n')
const frame = { ...compress(row), rows: 1, jsonBytes: row.length }

export const resolves = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  )

/**
 * Starts everything that a gateway needs to add frames to the shards of a new installation.
 * Everything stops when the test ends. Frames use a connection of their own.
 *
 * @param options.replicas number of replicas that must confirm each frame
 */
export async function startShardedProducer(
  t: Test,
  cluster: RedisCluster,
  { replicas }: { replicas: number },
) {
  const open = (): Redis => {
    const redis = connectRedis({ url: cluster.url, role: 'producer', onError })
    t.teardown(() => redis.disconnect())
    return redis
  }
  const [main, logs] = [open(), open()]
  await until('it is an installation', () => resolves(claimInstallation(main, 'one')))
  const poll = pollRedisState({
    redis: main,
    tags,
    replicasMin: replicas,
    intervalMs: 200,
    onError,
  })
  const health = startShardHealth({ redis: main, shards: shards.length, onError })
  const acks = replicas > 0 ? createReplicaAcks({ redis: logs, replicas }) : undefined
  const { requireExamined } = createExamination({ redis: logs, tags, refusalOf: poll.refusalOf })
  const sinks = shards.map((shard) =>
    createJobSink({ redis: logs, kind: 'logs', shard, acks, requireExamined }),
  )
  t.teardown(async () => {
    poll.close()
    health.close()
    await Promise.all(sinks.map((sink) => sink.close()))
  })
  const producer = createShardedProducer({
    sinks,
    isUsable: (shard) => health.isUsable(shard) && poll.refusalOf(shardPrefix(shard)) === undefined,
  })
  await until('all shards are usable', () => shards.every(health.isUsable))
  await until('Redis can be used', () => poll.state()?.writeRefusal === undefined)
  await until('the sinks are ready', () => resolves(Promise.all(sinks.map((sink) => sink.ready()))))
  return {
    main,
    logs,
    poll,
    health,
    sinks,
    /** Resolves to `added` or to the code of the error. */
    add: (timeoutMs: number): Promise<string> =>
      producer.add({ ...frame, receivedAtMs: Date.now() }, systemClock.now() + timeoutMs).then(
        () => 'added',
        (error: { code: string }) => error.code,
      ),
  }
}
