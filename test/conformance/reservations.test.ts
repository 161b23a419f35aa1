import t from 'tap'
import { limits } from '@intake/contract'
import { startRedis } from '@intake/engines'
import { bucketsOf, defineReserve, levelsMax, type ReserveCall } from '@intake/identity'
import { connectRedis } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { rightDesign } from '../simulation/design.ts'
import { createRandom } from '../simulation/random.ts'
import { createReservations } from '../simulation/reservations.ts'

const calls = 20_000
/** So many keys that hashes of the first levels become full. */
const keysMax = 4_000

t.test('the simulated Redis replies as the script of the gateway does in a real one', async (t) => {
  const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
  t.teardown(() => server.stop())
  const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
  t.teardown(() => redis.disconnect())
  const reserve = defineReserve(redis)
  const [seconds] = await redis.time()
  const nowMs = Number(seconds) * 1_000
  const today = Math.floor(nowMs / 86_400_000)
  const twin = createReservations({ design: rightDesign, wallMs: () => nowMs })
  const random = createRandom(1)

  const replies = new Map<string, number>()
  const batch: { call: ReserveCall; expected: unknown }[] = []
  for (let n = 0; n < calls; n++) {
    const name = random.below(keysMax)
    const keyHash = Buffer.alloc(32)
    // All keys share the first hash of each level but the last.
    keyHash.writeUInt32BE(random.chance(0.5) ? 0 : (name % 16) << 20)
    const call = {
      ...bucketsOf({
        kind: 'logs',
        keyHash,
        today: today + random.pick([0, 0, 0, 0, 0, -1, 1, -2]),
        levels: 1 + random.below(levelsMax),
      }),
      field: Buffer.from(String(name).padStart(9, '0')),
      value: Buffer.from(String(n).padStart(22, '0')),
      mayWrite: random.chance(0.8),
      keptDays: limits.keyDays.logs,
    }
    const expected = twin.reserve(call)
    const kind = typeof expected === 'string' ? expected : 'found'
    replies.set(kind, (replies.get(kind) ?? 0) + 1)
    batch.push({ call, expected })
  }
  const real = await Promise.all(batch.map(({ call }) => reserve(call)))
  const different = batch.findIndex(({ expected }, n) => String(expected) !== String(real[n]))
  t.equal(different, -1, 'the first call with another reply')
  for (const kind of ['found', 'reserved', 'no room', 'other days', 'more levels']) {
    t.ok((replies.get(kind) ?? 0) > 50, `${kind}: ${replies.get(kind)}`)
  }
})
