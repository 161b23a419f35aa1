// Measures the cost of REDIS_ACK_REPLICAS=1 per frame: node --import=tsx test/cluster/cost.ts
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compress } from '@intake/queue/frame'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { connectRedis, createReplicaAcks } from '@intake/redis'
import { freePorts } from '@intake/test-kit/free-ports'
import { createRedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'

const frames = 300
/** How many frames are sent at the same time, as in a busy gateway. */
const atOnce = 4
const dataDir = mkdtempSync(join(tmpdir(), 'intake-cost-'))
const [port, replicaPort] = await freePorts(2)
const primary = await createRedisServer({ dataDir, port: port! })
const config = [`replicaof 127.0.0.1 ${port}`]
const replica = await createRedisServer({ dataDir, port: replicaPort!, config })
await Promise.all([primary.process.start(), replica.process.start()])

const redis = connectRedis({ url: primary.url, role: 'producer', onError: console.error })
await until('the replica is online', async () =>
  (await redis.info('replication')).includes('state=online'),
)
const compressed = compress('{"row":1}\n'.repeat(128))
const frame = () => ({ ...compressed, rows: 128, jsonBytes: 1_280, receivedAtMs: Date.now() })

async function measure(acks: ReturnType<typeof createReplicaAcks> | undefined): Promise<number[]> {
  const sink = createJobSink({ redis, kind: 'logs', acks })
  const producer = createFrameProducer({ sink })
  const times: number[] = []
  async function send(): Promise<void> {
    while (times.length < frames) {
      const began = performance.now()
      await producer.add(frame(), performance.now() + 4_000)
      times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, send))
  await sink.close()
  return times.toSorted((one, other) => one - other)
}

const at = (times: number[], share: number) =>
  times[Math.floor((times.length - 1) * share)]!.toFixed(1)

await measure(undefined)
for (let round = 1; round <= 3; round++) {
  for (const [name, acks] of [
    ['REDIS_ACK_REPLICAS=0', undefined],
    ['REDIS_ACK_REPLICAS=1', createReplicaAcks({ redis, replicas: 1 })],
  ] as const) {
    const times = await measure(acks)
    console.log(`${name}: median ${at(times, 0.5)} ms, 99 % ${at(times, 0.99)} ms per frame`)
  }
}
redis.disconnect()
await Promise.all([primary, replica].map((one) => one.process.kill()))
await rm(dataDir, { recursive: true, force: true })
