import t from 'tap'
import { dayMs, limits } from '@intake/contract'
import { bucketsOf, defineReserve, levelsMax, type ReserveCall } from '@intake/identity'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createRandom } from '../simulation/random.ts'
import { createReservations } from '../simulation/reservations.ts'

const calls = 20_000
/**
 * The number of different idempotency keys. They are enough to fill the Redis hashes of the first
 * levels (see `packages/identity/src/reservation-buckets.ts`).
 */
const keysMax = 4_000

interface Compared {
  call: ReserveCall
  expected: unknown
}

/** Returns random calls on this day, each with the reply of the simulated Redis. */
function callsOn(today: number): Compared[] {
  const twin = createReservations({ wallMs: () => today * dayMs })
  const random = createRandom(1)
  return Array.from({ length: calls }, (_, n) => {
    const name = random.below(keysMax)
    const keyHash = Buffer.alloc(32)
    // At the first level, all calls use the same Redis hash. At each further level, half of the
    // calls use one Redis hash, and the other half is spread over 16 of them.
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
    return { call, expected: twin.reserve(call) }
  })
}

t.test('the simulated Redis replies as the script of the gateway does in a real one', async (t) => {
  const server = await ownRedis(t)
  const redis = openRedis(t, server)
  const reserve = defineReserve(redis)
  const dayOfRedis = async () => Math.floor((Number((await redis.time())[0]) * 1_000) / dayMs)

  let today: number
  let compared: Compared[]
  let real: unknown[]
  // The script reads the clock of Redis. If midnight came during the calls, they are repeated.
  do {
    await redis.flushall()
    today = await dayOfRedis()
    compared = callsOn(today)
    real = await Promise.all(compared.map(({ call }) => reserve(call)))
  } while ((await dayOfRedis()) !== today)

  const different = compared.findIndex(({ expected }, n) => String(expected) !== String(real[n]))
  t.equal(different, -1, 'the first call with another reply')
  const replies = new Map<string, number>()
  for (const { expected } of compared) {
    const kind = typeof expected === 'string' ? expected : 'found'
    replies.set(kind, (replies.get(kind) ?? 0) + 1)
  }
  for (const kind of ['found', 'reserved', 'no room', 'other days', 'more levels']) {
    t.ok((replies.get(kind) ?? 0) > 50, `${kind}: ${replies.get(kind)}`)
  }
})
