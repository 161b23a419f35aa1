import { createRequire } from 'node:module'
import t from 'tap'
import { installationKey } from '@intake/redis'
import { queuePrefix, shardMarkKey, shardPrefix, shardsMax } from '../../src/index.ts'

const require = createRequire(import.meta.url)
/** The slot of a key, by the function that ioredis uses. */
const slotOf = createRequire(require.resolve('ioredis'))('cluster-key-slot') as (
  key: string,
) => number
const slots = 16_384

/**
 * Returns the master of a slot. Each master has a range of slots of the same length, as `redis-cli
 * --cluster create` assigns them.
 */
const masterOf = (slot: number, masters: number) => Math.floor((slot * masters) / slots)

t.test('shard 0 has the keys of a queue without shards', async (t) => {
  t.equal(shardPrefix(0), queuePrefix)
  t.equal(shardMarkKey(0), installationKey)
})

t.test('any number of shards falls evenly on up to six masters', async (t) => {
  const ofShards = Array.from({ length: shardsMax }, (_, shard) => slotOf(shardPrefix(shard)))
  for (let masters = 2; masters <= 6; masters++) {
    for (let shards = 1; shards <= shardsMax; shards++) {
      const counts = Array.from({ length: masters }, () => 0)
      for (const slot of ofShards.slice(0, shards)) counts[masterOf(slot, masters)]!++
      const spread = Math.max(...counts) - Math.min(...counts)
      t.ok(spread <= 1, `${shards} shards on ${masters} masters: ${counts.join(', ')}`)
    }
  }
})

t.test('the keys of a shard are in one slot', async (t) => {
  const tags = new Set<string>()
  for (let shard = 0; shard < shardsMax; shard++) {
    const prefix = shardPrefix(shard)
    tags.add(prefix)
    t.equal(slotOf(`${prefix}:logs:wait`), slotOf(shardMarkKey(shard)))
  }
  t.equal(tags.size, shardsMax)
  t.throws(() => shardPrefix(shardsMax), RangeError)
})
