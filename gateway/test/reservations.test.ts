import t from 'tap'
import { connectRedis } from '@intake/redis'
import { startRedis } from '@intake/stack'
import { startTcpProxy } from '../../test/faults/kit/tcp-proxy.ts'
import { createDataDir } from '../../test/support/data-dir.ts'
import { createReservations } from '../src/idempotency.ts'

const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
t.teardown(async () => {
  redis.disconnect()
  await server.stop()
})
const reservations = createReservations({ redis })
const soon = () => performance.now() + 60_000
const first = { scope: 'logs' as const, deviceUuid: 'A', key: 'k', fingerprint: 'f', id: 'id-1' }

t.test('the first to reserve a key gives it its id, also when many come at once', async (t) => {
  const ids = await Promise.all(
    Array.from({ length: 50 }, (_, i) => reservations.reserve({ ...first, id: `id-${i}` }, soon())),
  )
  t.equal(new Set(ids).size, 1)
})

t.test('another payload under the same key is refused', async (t) => {
  await t.rejects(reservations.reserve({ ...first, fingerprint: 'other' }, soon()), {
    code: 'idempotency_key_reused',
  })
})

t.test('the same key of another device or another kind of record is another key', async (t) => {
  t.equal(await reservations.reserve({ ...first, deviceUuid: 'B', id: 'id-b' }, soon()), 'id-b')
  t.equal(await reservations.reserve({ ...first, scope: 'feedback', id: 'id-f' }, soon()), 'id-f')
})

t.test('a reservation ends after 72 hours', async (t) => {
  const [name] = await redis.keys('{intake}:idempotency:*')
  const left = await redis.pttl(name!)
  t.ok(left > 71 * 3_600_000 && left <= 72 * 3_600_000)
})

t.test('a reservation whose answer was lost is asked for again, and found', async (t) => {
  const proxy = await startTcpProxy({ target: server.port, random: Math.random })
  t.teardown(() => proxy.close())
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const lossy = connectRedis({ url: url.href, role: 'producer', onError: () => {} })
  t.teardown(() => lossy.disconnect())
  await new Promise((resolve) => lossy.once('ready', resolve))

  proxy.set({ dropAnswers: true })
  const reserving = createReservations({ redis: lossy }).reserve({ ...first, key: 'lost' }, soon())
  await new Promise((resolve) => lossy.once('close', resolve))
  proxy.set()
  t.equal(await reserving, first.id)
})

t.test(
  'queue_unavailable when Redis does not answer in time: nothing is stored then',
  async (t) => {
    const away = connectRedis({ url: 'redis://127.0.0.1:1', role: 'consumer', onError: () => {} })
    t.teardown(() => away.disconnect())
    const reserving = createReservations({ redis: away }).reserve(first, performance.now() + 100)
    await t.rejects(reserving, { code: 'queue_unavailable' })
  },
)
