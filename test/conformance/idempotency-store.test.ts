import t, { type Test } from 'tap'
import {
  defineReserve,
  createIdempotencyStore,
  type IdempotencyStore,
  type Reservation,
  createReservationLedger,
} from '@intake/identity'
import { createMemoryIdempotencyStore } from '@intake/sandbox'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'

const soon = () => performance.now() + 60_000
const id = (n: number) => `019aa5e6-5c40-7abc-8def-${String(n).padStart(12, '0')}`
const first: Reservation = {
  scope: 'logs',
  apiKeyId: 'key_1',
  bundleIdentifier: 'app',
  deviceUuid: 'A',
  key: 'k',
  fingerprint: '0123456789ab',
  id: id(1),
}

t.test('in memory', (t) => conforms(t, createMemoryIdempotencyStore()))

t.test('in Redis', async (t) => {
  const server = await ownRedis(t)
  const redis = openRedis(t, server)
  const ledger = createReservationLedger({
    redis,
    memoryBytes: () => 2 ** 29,
    shares: { logs: 0.1, feedback: 0.1 },
    onError: (error) => t.comment(error),
  })
  t.teardown(() => ledger.close())
  await conforms(t, createIdempotencyStore({ reserve: defineReserve(redis), ledger }))
})

/** Tests what every `IdempotencyStore` must do. */
async function conforms(t: Test, store: IdempotencyStore): Promise<void> {
  const reserve = (change: Partial<Reservation> = {}) =>
    store.reserve({ ...first, ...change }, soon())

  await t.test('the first of many concurrent reservations of a key decides its id', async (t) => {
    const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => reserve({ id: id(n) })))
    t.equal(new Set(ids).size, 1)
    t.equal(await reserve({ id: id(99) }), ids[0])
  })

  await t.test('a key with another fingerprint is refused, and keeps its id', async (t) => {
    const before = await reserve()
    const other = { fingerprint: 'ffffffffffff', id: id(2) }
    await t.rejects(reserve(other), { code: 'idempotency_key_reused' })
    t.equal(await reserve(), before)
  })

  await t.test('another application, device, scope or spelling is another key', async (t) => {
    const others: Partial<Reservation>[] = [
      { bundleIdentifier: 'other' },
      { deviceUuid: 'B' },
      { key: 'K' },
      { key: 'k ' },
      { scope: 'feedback' },
      { scope: 'batches' },
      { bundleIdentifier: 'app","A', deviceUuid: '' },
    ]
    for (const [n, other] of others.entries()) {
      t.equal(await reserve({ ...other, id: id(100 + n) }), id(100 + n), JSON.stringify(other))
    }
  })

  await t.test('the case of the device and the API key make no difference', async (t) => {
    const before = await reserve()
    t.equal(await reserve({ deviceUuid: 'a', id: id(3) }), before)
    t.equal(await reserve({ apiKeyId: 'key_2', id: id(4) }), before)
  })
}
