import t, { type Test } from 'tap'
import { connectRedis, type Redis } from '@intake/redis'
import { startRedis } from '@intake/local'
import { defineReserve } from '@intake/identity'
import { openRedis } from '@intake/test-kit/open-redis'
import { startTcpProxy } from '@intake/test-kit/tcp-proxy'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import {
  createIdempotencyStore,
  type IdempotencyStore,
  type Reservation,
} from '../src/idempotency-store.ts'
import { createReservationLedger } from '../src/reservation-ledger.ts'

const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => server.stop())
const redis = openRedis(t, server)

const mebibyte = 1024 * 1024

async function createStore(
  t: Test,
  options: { redis?: Redis; memoryBytes?: number; refresh?: boolean } = {},
) {
  const connection = options.redis ?? redis
  const ledger = createReservationLedger({
    redis: connection,
    memoryBytes: () => options.memoryBytes ?? 512 * mebibyte,
    shares: { logs: 0.125, feedback: 0.125 },
    onError: () => {},
  })
  t.teardown(() => ledger.close())
  if (options.refresh ?? true) await ledger.refresh()
  return { ledger, store: createIdempotencyStore({ reserve: defineReserve(connection), ledger }) }
}

const soon = () => performance.now() + 60_000
/** Returns the number of days since 1970, by the clock of Redis. */
const today = async () => Math.floor(Number((await redis.time())[0]) / 86_400)
const id = (n: number) => `019aa5e6-5c40-7abc-8def-${String(n).padStart(12, '0')}`
const first = {
  scope: 'logs' as const,
  apiKeyId: 'key_1',
  bundleIdentifier: 'app',
  deviceUuid: 'A',
  key: 'k',
  fingerprint: '0123456789ab',
  id: id(1),
}

t.test('a key reserved up to three days ago is found, and also one from tomorrow', async (t) => {
  const { store } = await createStore(t)
  for (const daysAgo of [3, 2, 1, -1]) {
    const reservation = { ...first, key: `of ${daysAgo} days ago`, id: id(200 + daysAgo) }
    const before = await today()
    await store.reserve(reservation, soon())
    for (const key of await redis.keys('*:logs:*')) {
      const [, tag, day, bucket] = /^(.*:logs:)(\d+):(\w+)$/.exec(key) ?? []
      if (day === undefined || (await redis.hlen(key)) === 0) continue
      await redis.rename(key, `${tag}${Number(day) - daysAgo}:${bucket}`)
    }
    const found = await store.reserve({ ...reservation, id: id(300) }, soon())
    // Not checked if midnight has passed, because the reservation is then a day older.
    if ((await today()) === before) t.equal(found, reservation.id)
    await redis.flushall()
  }
})

t.test('reservations expire three days after their day, those of feedback thirty', async (t) => {
  const { store } = await createStore(t)
  await redis.flushall()
  for (const [scope, days] of [
    ['logs', 3],
    ['feedback', 30],
  ] as const) {
    const before = await today()
    await store.reserve({ ...first, scope }, soon())
    const [key] = await redis.keys(`{intake:*:${scope}:*`)
    // Accepts the day before and after `reserve`, because midnight may have passed between them.
    const ends = [before, await today()].map((day) => (day + 1 + days) * 86_400)
    t.ok(ends.includes(await redis.expiretime(key!)), scope)
  }
})

t.test('keys_full for a new key when the share is used up; known ones are found', async (t) => {
  await redis.flushall()
  const { store, ledger } = await createStore(t, { memoryBytes: (100 * 64) / 0.125 })
  const reserve = (n: number, apiKeyId: string) =>
    store.reserve({ ...first, key: `key ${n}`, apiKeyId, id: id(n) }, soon())
  for (let n = 0; n < 50; n++) await reserve(n, 'key_1')
  await t.rejects(reserve(50, 'key_1'), { code: 'keys_full' }, 'an API key gets half of it')
  await until('its part is used up', () => /one API key/.test(ledger.full().join()))
  for (let n = 50; n < 75; n++) await reserve(n, 'key_2')
  await t.rejects(reserve(75, 'key_2'), { code: 'keys_full' }, 'another one half of the rest')
  for (let n = 75; n < 100; n++) await reserve(n, `key_${n}`)
  t.match(ledger.full(), [/the idempotency keys of logs/])
  await t.rejects(reserve(100, 'key_3'), { code: 'keys_full' })
  t.equal(await reserve(7, 'key_1'), id(7))
  t.equal(await store.reserve({ ...first, scope: 'feedback', id: id(9) }, soon()), id(9))

  const other = await createStore(t, { memoryBytes: (100 * 64) / 0.125 })
  await ledger.refresh()
  await other.ledger.refresh()
  await t.rejects(
    other.store.reserve({ ...first, key: 'key 101', apiKeyId: 'key_3' }, soon()),
    { code: 'keys_full' },
    'another gateway knows it',
  )
  t.match(other.ledger.full(), [/the idempotency keys of logs/])
})

/** Reserves the keys with the numbers from `from` to `to - 1`; returns their ids. */
async function fill(
  store: IdempotencyStore,
  { from = 0, to }: { from?: number; to: number },
  rest: Partial<Reservation>,
): Promise<string[]> {
  const ids: string[] = []
  for (let n = from; n < to; n += 500) {
    const some = Array.from({ length: Math.min(500, to - n) }, (_, i) => {
      const one = { ...first, key: `of many ${n + i}`, id: id(n + i) }
      return store.reserve({ ...one, ...rest }, soon())
    })
    ids.push(...(await Promise.all(some)))
  }
  return ids
}

/** The memory that Redis uses, in bytes. */
const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])

t.test('one day may use the share that a key gets, at 64 bytes per reservation', async (t) => {
  await redis.flushall()
  // Redis must store even a full bucket, which has 96 fields, as a listpack. This limit is lower
  // than Redis's default of 512.
  await redis.config('SET', 'hash-max-listpack-entries', '128')
  const memoryBytes = 32 * mebibyte
  const { store, ledger } = await createStore(t, { memoryBytes })
  const before = await used()
  const reservations = (memoryBytes * 0.125) / 64 / 2
  const ids = await fill(store, { to: reservations }, { scope: 'feedback' })
  await until('its part is used up', () => /one API key/.test(ledger.full().join()))
  const bytes = ((await used()) - before) / reservations
  t.comment(`${bytes.toFixed(1)} bytes per reservation`)
  t.ok(bytes <= 64, `${bytes} bytes`)
  const buckets = await redis.keys('{intake:*}:feedback:*')
  const encodings = await Promise.all(buckets.map((key) => redis.object('ENCODING', key)))
  t.same([...new Set(encodings)], ['listpack'])
  // The buckets of the first level are full, so the last keys are in the second level of buckets,
  // which a gateway that has just started must find.
  const { store: justStarted } = await createStore(t, { memoryBytes })
  const last = { from: reservations - 2_000, to: reservations }
  const found = await fill(justStarted, last, { scope: 'feedback', id: id(0) })
  t.same(found, ids.slice(-2_000), 'another gateway finds them')
})

t.test('a reservation whose reply was lost is requested again and found', async (t) => {
  const proxy = await startTcpProxy({ target: server.port, random: Math.random })
  t.teardown(() => proxy.close())
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const lossy = openRedis(t, { url: url.href }, 'producer')
  await new Promise((resolve) => lossy.once('ready', resolve))
  const { store } = await createStore(t, { redis: lossy })

  proxy.set({ dropAnswers: true })
  const reserving = store.reserve({ ...first, key: 'lost' }, soon())
  await new Promise((resolve) => lossy.once('close', resolve))
  proxy.set()
  t.equal(await reserving, first.id)
})

t.test('queue_unavailable when Redis does not reply in time: nothing is stored', async (t) => {
  const unreachable = connectRedis({
    url: 'redis://127.0.0.1:1',
    role: 'consumer',
    onError: () => {},
  })
  t.teardown(() => unreachable.disconnect())
  const { store } = await createStore(t, { redis: unreachable, refresh: false })
  const reserving = store.reserve(first, performance.now() + 300)
  await t.rejects(reserving, { code: 'queue_unavailable' })
})
