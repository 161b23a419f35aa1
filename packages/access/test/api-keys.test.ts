import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { claimInstallation } from '@intake/redis'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createTestClock } from '@intake/test-kit/test-clock'
import { until } from '@intake/test-kit/until'
import { createApiKeyStore, keyLimitNames, watchApiKeys } from '../src/index.ts'

const redis = openRedis(t, await ownRedis(t))
const store = createApiKeyStore({ redis })
await claimInstallation(redis, 'test')

const redisKey = '{intake}:api-keys'

/** Watches the keys until the test ends; every error and unreadable name fails the test. */
function watch(t: Test, options: Partial<Parameters<typeof watchApiKeys>[0]> = {}) {
  const fail = (found: unknown) => t.fail(String(found))
  const watching = { store, intervalMs: 10, onError: fail, onUnreadable: fail }
  const directory = watchApiKeys({ ...watching, ...options })
  t.teardown(() => directory.close())
  return directory
}

t.test('a key is shown at creation and stored only as a hash', async (t) => {
  const { key, secret } = await store.create({ name: 'app', bundleIdentifiers: ['com.example'] })
  t.match(secret, /^ik_[\w-]{43}$/)
  t.match(await store.list(), [{ id: key.id, name: 'app', bundleIdentifiers: ['com.example'] }])
  t.notMatch(JSON.stringify(await redis.hgetall('{intake}:api-keys')), secret)
  t.ok((await redis.hlen('{intake}:api-keys')) > 0)
})

t.test('a chosen secret is one key, however often it is created', async (t) => {
  const first = await store.create({ name: 'first', secret: 'chosen-by-somebody' })
  const second = await store.create({ name: 'second', secret: 'chosen-by-somebody' })
  t.same(second, { ...first, created: false })
  await t.rejects(store.create({ name: 'short', secret: 'short' }), /at least 16 characters/)
})

t.test('a secret that no header field can carry is refused', async (t) => {
  for (const secret of [
    ' '.repeat(20),
    'sixteen-letters-and-a-space ',
    'schlüssel-zum-schloss',
    'a\nb'.repeat(9),
  ]) {
    await t.rejects(store.create({ name: 'unusable', secret }), /must be ASCII/, secret)
  }
  t.equal((await store.create({ name: 'spaces', secret: 'sixteen letters or more' })).created, true)
})

t.test('a bundle identifier is kept as gateways compare it', async (t) => {
  const { key } = await store.create({ name: 'ill-formed', bundleIdentifiers: ['com.\ud800'] })
  const stored = (await store.list()).find(({ id }) => id === key.id)
  t.same(stored?.bundleIdentifiers, ['com.\ufffd'])
})

t.test('a directory follows creation, expiry and revocation', async (t) => {
  const directory = watch(t)
  const { key, secret } = await store.create({ name: 'new' })
  await until('the key is known', () => directory.find(secret)?.id === key.id)
  t.equal(directory.find(`${secret}x`), undefined)

  const expiresAt = new Date(Date.now() + 3_600_000)
  const expiring = await store.create({ name: 'old', expiresAt })
  await until('the other key is known', () => directory.find(expiring.secret) !== undefined)
  const clock = mock.method(Date, 'now', () => expiresAt.getTime())
  t.equal(directory.find(expiring.secret), undefined)
  clock.mock.restore()

  t.match(await store.setState(key.id, 'revoked'), { id: key.id, revokedAt: String })
  t.equal(await store.setState(key.id, 'revoked'), undefined)
  await until('the revocation is known', () => directory.find(secret) === undefined)
})

t.test('a revoked key is not created again, and is distinguishable from a new one', async (t) => {
  const secret = 'revoked-and-still-in-some-environment'
  const { key } = await store.create({ name: 'leaked', secret })
  await store.setState(key.id, 'revoked')
  t.match(await store.create({ name: 'leaked', secret }), {
    created: false,
    key: { id: key.id, revokedAt: String },
  })
})

t.test('a Redis that has lost its data is an error, not an empty list of keys', async (t) => {
  await redis.del('{intake}:installation')
  await t.rejects(store.load(), /belongs to no installation/)
  await claimInstallation(redis, 'test')
})

t.test('a directory keeps the last known keys while the store is unavailable', async (t) => {
  let isDown = false
  let failures = 0
  const directory = watch(t, {
    store: {
      ...store,
      revision: () => (isDown ? Promise.reject(new Error('down')) : store.revision()),
    },
    onError: () => failures++,
  })
  t.equal(directory.isLoaded(), false)
  const { secret } = await store.create({ name: 'kept' })
  await until('the key is known', () => directory.find(secret) !== undefined)
  isDown = true
  await until('two attempts have failed', () => failures > 1)
  t.ok(directory.find(secret))
})

t.test('keys that cannot be read at first are retried with growing pauses', async (t) => {
  const attempts: number[] = []
  watch(t, {
    store: { ...store, load: () => Promise.reject(new Error('down')) },
    intervalMs: 300,
    onError: () => attempts.push(performance.now()),
  })
  await until('five attempts have failed', () => attempts.length === 5)
  // Allows 10 ms, because timers may fire slightly early. Timers that fire late do not matter here.
  t.ok(attempts[4]! - attempts[0]! >= 100 + 200 + 300 + 300 - 10)
})

t.test('keys are read again only after a change', async (t) => {
  const clock = createTestClock()
  const { keys } = await store.load()
  let revision = 'first'
  let readings = 0
  watch(t, {
    store: {
      revision: () => Promise.resolve(revision),
      load: () => Promise.resolve({ keys, unreadable: new Map(), count: ++readings }),
    },
    intervalMs: 2_000,
    clock,
  })
  await clock.advance(60_000)
  t.equal(readings, 1)
  revision = 'second'
  await clock.advance(2_000)
  t.equal(readings, 2, 'a change acts within two seconds')
  await clock.advance(60_000)
  t.equal(readings, 2)
})

t.test('every change of a key changes the revision', async (t) => {
  const revisions = [await store.revision()]
  const { key } = await store.create({ name: 'revised' })
  revisions.push(await store.revision())
  for (const change of [
    () => store.set(key.id, { name: 'renamed' }),
    () => store.setState(key.id, 'suspended'),
    () => store.setState(key.id, 'revoked'),
  ]) {
    await change()
    revisions.push(await store.revision())
  }
  t.equal(new Set(revisions).size, 5)
  await redis.del('{intake}:installation')
  await t.rejects(store.revision(), /belongs to no installation/)
  await claimInstallation(redis, 'another')
  t.not(await store.revision(), revisions[4])
  await redis.set('{intake}:installation', 'test')
})

t.test('a reading keeps the keys that are unchanged', async (t) => {
  const { key } = await store.create({ name: 'kept' })
  const { key: other } = await store.create({ name: 'other' })
  const { keys: before } = await store.load()
  await store.set(other.id, { name: 'renamed' })
  const { keys: after } = await store.load(before)
  const find = (keys: typeof before, id: string) => [...keys.values()].find((one) => one.id === id)
  t.equal(find(after, key.id), find(before, key.id))
  t.match(find(after, other.id), { name: 'renamed' })
})

t.test('the process does other work while many keys are read', async (t) => {
  const { key } = await store.create({ name: 'many' })
  const fields = Array.from({ length: 3_000 }, (_, n) => `many-${n}`)
  const json = JSON.stringify(key)
  await redis.hset(redisKey, Object.fromEntries(fields.map((field) => [field, json])))
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const { keys } = await store.load()
  clearInterval(timer)
  t.ok(keys.size > 3_000)
  t.ok(turns > 3, `${turns} turns of others`)
  await redis.hdel(redisKey, ...fields)
})

/** Writes an entry as if it had been damaged, and makes directories read the keys again. */
const write = (field: string, json: string) =>
  redis.multi().hset(redisKey, field, json).set('{intake}:policy:revision', randomUUID()).exec()
const fieldOf = async (id: string) => {
  const entries = Object.entries(await redis.hgetall(redisKey))
  return entries.find(([, json]) => json.includes(id))?.[0] ?? ''
}

t.test('a damaged entry harms only its own key, and is named without its content', async (t) => {
  const healthy = await store.create({ name: 'healthy' })
  const { key, secret } = await store.create({ name: 'DAMAGED', bundleIdentifiers: ['com.one'] })
  const field = await fieldOf(key.id)
  const named = JSON.stringify({ id: key.id, name: 'DAMAGED' })
  const unnamed = ['', 'DAMAGED', '{"id":"key_', 'null', '[]', '7', '"key_0123456789ab"']
  // If a gateway accepted one of these, its key would allow more than it should.
  const allowing = [
    { bundleIdentifiers: 'DAMAGED' },
    { bundleIdentifiers: [7] },
    { expiresAt: 'DAMAGED' },
    { expiresAt: undefined },
    { revokedAt: false },
    { suspendedAt: false },
    { origins: 'https://app.example' },
    { origins: ['DAMAGED'] },
    { limits: null },
    { limits: { eventsPerDay: '5' } },
  ].map((change) => JSON.stringify({ ...key, ...change }))
  const byField = [...unnamed, JSON.stringify({ ...key, id: 'DAMAGED' })]
  const byId = [named, JSON.stringify(key).slice(0, 50), ...allowing]
  const cases = [
    ...byField.map((json) => [json, field.slice(0, 8)] as const),
    ...byId.map((json) => [json, key.id] as const),
  ]
  for (const [json, name] of cases) {
    await write(field, json)
    const found: string[][] = []
    const directory = watch(t, { onUnreadable: (names) => found.push(names) })
    await until('the keys are read', () => found.length > 0)
    t.equal(directory.find(healthy.secret)?.id, healthy.key.id, json)
    t.equal(directory.find(secret), undefined, json)
    t.ok(found[0]?.[0]?.includes(name), json)
    t.notMatch(String(found), 'DAMAGED')
    await t.rejects(store.create({ name: 'again', secret }), /cannot be read/)
    t.notOk((await store.list()).some(({ id }) => id === key.id))
    directory.close()
  }
  await redis.hdel(redisKey, field)
  t.match(await store.create({ name: 'again', secret }), { created: true })
})

t.test('a gateway that knows a key still accepts it when its entry is damaged', async (t) => {
  const { key, secret } = await store.create({ name: 'known' })
  let unreadable = 0
  const directory = watch(t, { onUnreadable: () => unreadable++ })
  await until('the key is known', () => directory.find(secret) !== undefined)
  const field = await fieldOf(key.id)
  const entry = await redis.hget(redisKey, field)
  await write(field, 'damaged')
  await until('it was read', () => unreadable > 0)
  t.equal(directory.find(secret)?.id, key.id)
  await write(field, entry!)
  t.ok(await store.setState(key.id, 'revoked'))
  await until('the revocation is known', () => directory.find(secret) === undefined)
})

t.test('fields that a later version adds to a key are ignored', async (t) => {
  const { key, secret } = await store.create({ name: 'later' })
  const field = await fieldOf(key.id)
  await redis.hset(redisKey, field, JSON.stringify({ ...key, v: 2 }))
  const { keys, unreadable } = await store.load()
  t.match(keys.get(field), key)
  t.equal(unreadable.size, 0)
  t.match(await store.create({ name: 'later', secret }), { created: false, key: { id: key.id } })
})

t.test('a suspended key can be resumed, a revoked one cannot', async (t) => {
  const { key } = await store.create({ name: 'leaked' })
  const field = await fieldOf(key.id)
  t.match(await store.setState(key.id, 'suspended'), { suspendedAt: String, revokedAt: null })
  const { suspendedAt } = (await store.load()).keys.get(field)!
  t.match(await store.setState(key.id, 'suspended'), { suspendedAt }, 'since the first time')
  await store.set(key.id, { name: 'renamed' })
  t.match((await store.load()).keys.get(field), { name: 'renamed', suspendedAt, revokedAt: null })
  t.match(await store.setState(key.id, 'active'), { suspendedAt: null })
  await store.setState(key.id, 'suspended')
  await store.setState(key.id, 'revoked')
  t.match((await store.load()).keys.get(field), { suspendedAt: null, revokedAt: String })
  t.equal(await store.setState(key.id, 'active'), undefined, 'for good')
})

t.test('a directory finds a suspended key, so that its senders learn what it is', async (t) => {
  const directory = watch(t)
  const { key, secret } = await store.create({ name: 'suspended' })
  await store.setState(key.id, 'suspended')
  await until('it is known', () => typeof directory.find(secret)?.suspendedAt === 'string')
})

t.test('rules are set one by one, and kept in the form that gateways compare', async (t) => {
  const { key } = await store.create({
    name: 'web',
    bundleIdentifiers: ['com.example.*'],
    origins: ['HTTPS://App.Example:443', 'http://localhost:5173', 'capacitor://localhost'],
    limits: { eventsPerMinute: 7, eventsPerDay: null },
  })
  t.match(key, {
    bundleIdentifiers: ['com.example.*'],
    origins: ['https://app.example', 'http://localhost:5173', 'capacitor://localhost'],
    limits: { eventsPerMinute: 7 },
  })
  t.notOk('eventsPerDay' in key.limits)
  const expiresAt = new Date('2099-01-01')
  await store.set(key.id, { limits: { bytesPerDay: 9 }, expiresAt })
  const changed = await store.set(key.id, { limits: { eventsPerMinute: null }, origins: [] })
  t.same(changed?.limits, { bytesPerDay: 9 })
  t.match(changed, { origins: [], bundleIdentifiers: ['com.example.*'] })
  t.equal(changed?.expiresAt, expiresAt.toISOString())
  t.equal(await store.set('key_000000000000', { name: 'none' }), undefined)
})

t.test('rules that no request could meet are refused', async (t) => {
  const origins =
    'app.example https://app.example/ https://app.example/path null * https://user@app.example ' +
    'https://a.example,https://b.example'
  for (const rules of [
    ...['com.*.app', '*', ''].map((bundle) => ({ bundleIdentifiers: [bundle] })),
    ...origins.split(' ').map((origin) => ({ origins: [origin] })),
    ...[0, 1.5].map((eventsPerDay) => ({ limits: { eventsPerDay } })),
  ]) {
    await t.rejects(store.create({ name: 'wrong', ...rules }), RangeError, JSON.stringify(rules))
  }
})

t.test('changes of two operators at the same time are both kept', async (t) => {
  const { key } = await store.create({ name: 'busy' })
  await Promise.all([
    store.setState(key.id, 'suspended'),
    store.set(key.id, { limits: { eventsPerDay: 5 } }),
    store.set(key.id, { origins: ['https://app.example'] }),
    store.set(key.id, { name: 'renamed' }),
  ])
  const found = (await store.list()).find(({ id }) => id === key.id)
  t.match(found, { name: 'renamed', limits: { eventsPerDay: 5 }, origins: ['https://app.example'] })
  t.type(found?.suspendedAt, 'string')
})

t.test('another type under the name of the keys is an error, not an empty list', async (t) => {
  await redis.rename(redisKey, '{intake}:kept')
  await redis.set(redisKey, 'garbage')
  await t.rejects(store.load(), /WRONGTYPE/)
  await redis.rename('{intake}:kept', redisKey)
})

t.test('docs/cli.md names the option of every limit', async (t) => {
  const page = await readFile(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  for (const name of keyLimitNames) {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    t.match(page, new RegExp(`\\x60--${flag}[ \\x60]`), flag)
  }
})
