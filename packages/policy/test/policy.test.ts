import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startRedis } from '@intake/engines'
import { claimInstallation, connectRedis } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import { createPolicyStore, suppressedMax, watchPolicy } from '../src/index.ts'

const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => server.stop())
const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
t.teardown(() => redis.disconnect())
const store = createPolicyStore({ redis })
const dayMs = 24 * 60 * 60 * 1000

const sender = (fields: object = {}) => ({
  bundle_identifier: 'com.example.app',
  device_uuid: randomUUID(),
  unique_user_id: 'user-1',
  ...fields,
})

t.test('a Redis that has lost its data is not a policy', async (t) => {
  await t.rejects(store.load(), /belongs to no installation/)
  await t.rejects(store.suppress({ kind: 'user', id: 'user-1' }), /belongs to no installation/)
  await t.rejects(store.setRetention('logs', 90), /belongs to no installation/)
})

t.test('a gateway learns whom it must not store, and for how long', async (t) => {
  await claimInstallation(redis, randomUUID())
  const policy = watchPolicy({ store, intervalMs: 20, onError: (error) => t.fail(String(error)) })
  t.teardown(() => policy.close())
  t.notOk(policy.isLoaded())
  await until('it is loaded', () => policy.isLoaded())
  t.notOk(policy.isSuppressed(sender()))
  t.equal(policy.retentionMs('logs'), undefined)

  const device = randomUUID()
  t.ok(await store.suppress({ kind: 'user', id: 'user-1', bundleIdentifier: 'com.example.app' }))
  t.ok(await store.suppress({ kind: 'device', id: device }))
  await store.setRetention('feedback', 90)
  await until('it knows', () => policy.retentionMs('feedback') !== undefined)
  await until('it knows the senders', () => policy.isSuppressed(sender({ device_uuid: device })))
  t.ok(policy.isSuppressed(sender()))
  t.notOk(policy.isSuppressed(sender({ bundle_identifier: 'com.example.other' })))
  t.notOk(policy.isSuppressed(sender({ unique_user_id: 'user-2' })))
  t.ok(policy.isSuppressed(sender({ unique_user_id: 'user-2', device_uuid: device.toUpperCase() })))
  t.equal(policy.retentionMs('feedback'), 90 * dayMs)
  t.equal(policy.retentionMs('logs'), undefined)

  t.ok(await store.unsuppress({ kind: 'device', id: device }))
  t.notOk(await store.unsuppress({ kind: 'device', id: device }))
  await store.setRetention('feedback', undefined)
  await until('it has forgotten', () => policy.retentionMs('feedback') === undefined)
  await until(
    'it has forgotten',
    () => !policy.isSuppressed(sender({ device_uuid: device, unique_user_id: 'x' })),
  )
})

t.test('what was dropped is refused, even when the period becomes longer', async (t) => {
  const nowMs = Date.parse('2026-11-23T00:00:00Z')
  const onError = (error: unknown) => t.fail(String(error))
  const policy = watchPolicy({ store, intervalMs: 20, onError, now: () => nowMs })
  t.teardown(() => policy.close())
  await store.noteDropped('logs', new Date(nowMs - 20 * dayMs))
  await until('it knows', () => policy.retentionMs('logs') === 20 * dayMs)
  await store.noteDropped('logs', new Date(nowMs - 25 * dayMs))
  t.equal((await store.load())!.droppedUntilMs.logs, nowMs - 20 * dayMs, 'it never moves back')
  await store.setRetention('logs', 7)
  await until('it knows the shorter one', () => policy.retentionMs('logs') === 7 * dayMs)
  await store.setRetention('logs', undefined)
  await until('it is longer again', () => policy.retentionMs('logs') === 20 * dayMs)
  t.equal(policy.retentionMs('feedback'), undefined)
})

t.test('a policy that has not changed is not read again', async (t) => {
  const { revision } = (await store.load())!
  t.equal(await store.load(revision), undefined)
  const device = { kind: 'device', id: randomUUID() } as const
  const changes = [
    () => store.suppress(device),
    () => store.unsuppress(device),
    () => store.setRetention('logs', 30),
    () => store.setRetention('logs', undefined),
  ]
  let known = revision
  for (const change of changes) {
    await change()
    const changed = await store.load(known)
    t.ok(changed, String(change))
    known = changed?.revision ?? ''
  }
})

t.test('the list is bounded and holds no identifiers', async (t) => {
  const [key] = await redis.keys('*suppressed*')
  t.notMatch(JSON.stringify(await redis.hgetall(key!)), 'user-1')
  for (let filled = 1; filled < suppressedMax; filled += 1_000) {
    const fields = Array.from({ length: 1_000 }, (_, n) => [`filler ${filled + n}`, ''])
    await redis.hset(key!, Object.fromEntries(fields) as Record<string, string>)
  }
  t.notOk(await store.suppress({ kind: 'user', id: 'one too many' }))
  const known = { kind: 'user', id: 'user-1', bundleIdentifier: 'com.example.app' } as const
  t.ok(await store.suppress(known), 'who is on the list already stays on it')
})
