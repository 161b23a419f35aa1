import { createHmac, createSecretKey, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { claimInstallation } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { createPolicyStore, rulesMax, suppressedMax, watchPolicy } from '../src/index.ts'

const redis = openRedis(t, await ownRedis(t))
const store = createPolicyStore({ redis })
const dayMs = 24 * 60 * 60 * 1000

/** Watches the policy until the test ends; every error and unreadable name fails the test. */
function watch(t: Test, options: Partial<Parameters<typeof watchPolicy>[0]> = {}) {
  const fail = (found: unknown) => t.fail(String(found))
  const policy = watchPolicy({
    store,
    intervalMs: 20,
    onError: fail,
    onUnreadable: fail,
    ...options,
  })
  t.teardown(() => policy.close())
  return policy
}

/** Like `watch`, and waits until the policy has been read. */
async function watchLoaded(...args: Parameters<typeof watch>) {
  const policy = watch(...args)
  await until('it is loaded', () => policy.isLoaded())
  return policy
}

const sender = (fields: object = {}) => ({
  bundle_identifier: 'com.example.app',
  device_uuid: randomUUID(),
  unique_user_id: 'user-1',
  ...fields,
})

const drop = (event: string) => ({ action: 'drop', match: { event } }) as const
const retentionKey = '{intake}:retention'
const nowMs = Date.parse('2026-11-23T12:00:00Z')
const dayBefore = (days: number) => new Date(nowMs - days * dayMs)

/** Makes directories read the policy again. */
const revise = () => redis.set('{intake}:policy:revision', randomUUID())

t.test('a Redis that has lost its data is not a policy', async (t) => {
  const uses: (() => Promise<unknown>)[] = [
    () => store.load(),
    () => store.suppress({ kind: 'user', id: 'user-1' }),
    () => store.noteDropped('logs', dayBefore(90)),
    () => store.addRule(drop('noise'), 'a'),
    () => store.removeRule('rule_000000000000'),
  ]
  for (const use of uses) {
    await t.rejects(use(), /belongs to no installation/, String(use))
  }
})

t.test('a gateway learns whom it must not store, and for how long', async (t) => {
  await claimInstallation(redis, randomUUID())
  const policy = watch(t, { wallMs: () => nowMs })
  t.notOk(policy.isLoaded())
  await until('it is loaded', () => policy.isLoaded())
  t.notOk(policy.isSuppressed(sender()))
  t.equal(policy.retentionMs('logs', 'com.example.app'), undefined)

  const device = randomUUID()
  t.ok(await store.suppress({ kind: 'user', id: 'user-1', bundleIdentifier: 'com.example.app' }))
  t.ok(await store.suppress({ kind: 'device', id: device }))
  await store.noteDropped('feedback', dayBefore(90))
  await until('it knows', () => policy.retentionMs('feedback', 'com.example.app') !== undefined)
  await until('it knows the senders', () => policy.isSuppressed(sender({ device_uuid: device })))
  t.ok(policy.isSuppressed(sender()))
  t.notOk(policy.isSuppressed(sender({ bundle_identifier: 'com.example.other' })))
  t.notOk(policy.isSuppressed(sender({ unique_user_id: 'user-2' })))
  t.ok(policy.isSuppressed(sender({ unique_user_id: 'user-2', device_uuid: device.toUpperCase() })))
  t.equal(policy.retentionMs('feedback', 'com.example.app'), 90 * dayMs)
  t.equal(policy.retentionMs('logs', 'com.example.app'), undefined)

  t.ok(await store.unsuppress({ kind: 'device', id: device }))
  t.notOk(await store.unsuppress({ kind: 'device', id: device }))
  await until(
    'it has forgotten',
    () => !policy.isSuppressed(sender({ device_uuid: device, unique_user_id: 'x' })),
  )
})

t.test('what was dropped of all applications or of one is refused for good', async (t) => {
  const policy = watch(t, { wallMs: () => nowMs })
  const days = (bundle: string) => (policy.retentionMs('logs', bundle) ?? Infinity) / dayMs
  await store.noteDropped('logs', dayBefore(22))
  await until('it knows', () => days('com.example.app') === 22)
  await store.noteDropped('logs', dayBefore(25))
  t.equal((await store.load())!.droppedUntilMs.logs.get(''), nowMs - 22 * dayMs, 'never back')
  for (const bundle of ['com.example.app', 'dropped-until:com.example.app']) {
    await store.noteDropped('logs', dayBefore(7), bundle)
    await until('it knows', () => days(bundle) === 7)
    t.equal(days('com.example.other'), 22)
  }
  await store.noteDropped('logs', dayBefore(5))
  await until('more was dropped of all', () => days('com.example.app') === 5)
  t.equal(policy.retentionMs('feedback', 'com.example.app'), 90 * dayMs)
})

t.test('a policy that has not changed is not read again', async (t) => {
  const { revision } = (await store.load())!
  t.equal(await store.load(revision), undefined)
  const device = { kind: 'device', id: randomUUID() } as const
  const changes = [
    () => store.suppress(device),
    () => store.unsuppress(device),
    () => store.noteDropped('logs', dayBefore(4)),
    () => store.addRule(drop('noise'), 'ana'),
    async () => store.removeRule((await store.load())!.rules[0]!.id),
  ]
  let known = revision
  for (const change of changes) {
    await change()
    const changed = await store.load(known)
    t.ok(changed, String(change))
    known = changed?.revision ?? ''
  }
})

t.test('a gateway learns of rules, and counts on when others change', async (t) => {
  const policy = await watchLoaded(t)
  t.same(policy.rules().active, [])
  t.equal(policy.rules().forSender('logs', 'key_1', sender({ device: {} }) as never), undefined)
  const rule = await store.addRule(drop('noise'), 'ana@ops')
  t.match(rule, { id: /^rule_[\da-f]{12}$/, createdBy: 'ana@ops', action: 'drop' })
  await until('it knows', () => policy.rules().active.length === 1)
  const active = policy.rules().active[0]!
  active.matches = 5
  await store.addRule(drop('more'), 'ana@ops')
  await until('it knows both', () => policy.rules().active.length === 2)
  t.equal(policy.rules().active[0], active, 'the same counter')
  const secret = await redis.hget('{intake}:rules', 'secret')
  t.same(await store.removeRule(rule!.id), rule)
  t.equal(await store.removeRule(rule!.id), undefined)
  t.equal(await store.removeRule('secret'), undefined)
  await until('it has forgotten one', () => policy.rules().active.length === 1)
  t.equal(await redis.hget('{intake}:rules', 'secret'), secret, 'hashes join for ever')
  t.equal((await store.load())!.secret, secret)
})

t.test('a rule that cannot be read is not followed, unless it was before', async (t) => {
  const names: string[][] = []
  const before = await watchLoaded(t, { onUnreadable: (found) => names.push(found) })
  const { id } = before.rules().active[0]!.rule
  await redis.hset('{intake}:rules', id, '{"id":"of a later version"}')
  await revise()
  await until('it is reported', () => names.length > 0)
  t.same(names[0], [`the entry ${id} of {intake}:rules`])
  t.equal(before.rules().active[0]?.rule.id, id)
  const after = await watchLoaded(t, { onUnreadable: () => {} })
  t.same(after.rules().active, [])
  t.equal(await store.removeRule(id), 'unreadable')
})

t.test('there are at most a hundred rules', async (t) => {
  for (let count = 0; count < rulesMax; count++) t.ok(await store.addRule(drop(`e${count}`), 'a'))
  t.equal(await store.addRule(drop('one too many'), 'a'), undefined)
  const { rules } = (await store.load())!
  t.equal(rules.length, rulesMax)
  await store.removeRule(rules[0]!.id)
  t.ok(await store.addRule(drop('fits'), 'a'))
  for (const { id } of (await store.load())!.rules) await store.removeRule(id)
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
  t.ok(await store.suppress(known), 'a listed sender remains on the list')
  await redis.del('{intake}:suppressed')
})

t.test('what was dropped is none if it cannot be read, until it is written anew', async (t) => {
  const fields = ['logs:dropped-until', 'logs:dropped-until:com.example.app']
  const read = async () => {
    await revise()
    const names: string[][] = []
    const policy = await watchLoaded(t, {
      wallMs: () => nowMs,
      onUnreadable: (found) => names.push(found),
    })
    const [logs, feedback] = (['logs', 'feedback'] as const).map((kind) =>
      policy.retentionMs(kind, 'com.example.app'),
    )
    policy.close()
    t.equal(feedback, 90 * dayMs, 'the other is not harmed')
    return { logs, names: names.flat() }
  }
  await redis.hset(retentionKey, { logs: '90', 'logs:days:a': 'of an earlier version', shape: 'x' })
  for (const value of ['', 'never', '-1', '1e99', '[]', ' 7', '9'.repeat(40)]) {
    await redis.hset(retentionKey, Object.fromEntries(fields.map((field) => [field, value])))
    const names = fields.map((field) => `the field ${field} of ${retentionKey}`)
    t.same(await read(), { logs: undefined, names }, value)
  }
  for (const bundle of [undefined, 'com.example.app']) {
    await store.noteDropped('logs', dayBefore(3), bundle)
  }
  t.same(await read(), { logs: 3 * dayMs, names: [] })
  await redis.hset(retentionKey, 'logs:dropped-until', '9'.repeat(15))
  t.same(await read(), { logs: dayMs / 2, names: [] }, 'the current day is never dropped')
})

t.test('a suppressed sender remains suppressed, even if entries are damaged', async (t) => {
  const user = { kind: 'user', id: randomUUID() } as const
  await redis.del('{intake}:suppressed')
  await store.suppress(user)
  const [field] = await redis.hkeys('{intake}:suppressed')
  const policy = () => watchLoaded(t, { onError: () => {} })
  for (const value of ['', 'garbage', '{"v":2}']) {
    await redis.hset('{intake}:suppressed', { [field!]: value, '': value, garbage: value })
    const watched = await policy()
    t.ok(watched.isSuppressed(sender({ unique_user_id: user.id })), value)
    t.notOk(watched.isSuppressed(sender({ unique_user_id: 'another' })))
    watched.close()
  }
  // From here on, the list itself is damaged. A gateway that starts now accepts nothing; a gateway
  // that already runs keeps the list that it has read.
  const before = await policy()
  await redis
    .multi()
    .set('{intake}:suppressed', 'x')
    .set('{intake}:policy:revision', randomUUID())
    .exec()
  await t.rejects(store.load(), /WRONGTYPE/)
  t.ok(before.isSuppressed(sender({ unique_user_id: user.id })))
  await redis.del('{intake}:suppressed', retentionKey)
})

t.test('the list alone, with the mark of the installation, identifies nobody', async (t) => {
  const user = { kind: 'user', id: randomUUID() } as const
  await store.suppress(user)
  const { suppressed, secret } = (await store.load())!
  t.match([...suppressed], [/^hmac-sha256:[\w+/]{43}=$/])
  // Rules hash values with the secret, so anybody can have a text hashed that they send.
  const text = JSON.stringify(['suppression', 'user', '', user.id])
  const visible = createHmac('sha256', Buffer.from(secret!, 'base64')).update(text).digest('base64')
  t.notOk(suppressed.has(`hmac-sha256:${visible}`))
  t.notOk((await store.subjectKey()).equals(createSecretKey(secret!, 'base64')))
  await store.unsuppress(user)
})

t.test('a lost secret is kept by running gateways, reported, and not replaced', async (t) => {
  const user = { kind: 'user', id: randomUUID() } as const
  await store.suppress(user)
  const names: string[][] = []
  const start = () => watchLoaded(t, { onUnreadable: (found) => names.push(found) })
  const running = await start()
  await redis.multi().del('{intake}:rules').set('{intake}:policy:revision', randomUUID()).exec()
  await until('it is read again', () => names.length > 0)
  t.ok(running.isSuppressed(sender({ unique_user_id: user.id })))
  await start()
  t.same(names, [['the field secret of {intake}:rules'], ['the field secret of {intake}:rules']])
  const changes: (() => Promise<unknown>)[] = [
    () => store.suppress(user),
    () => store.unsuppress(user),
    () => store.addRule(drop('noise'), 'ana@ops'),
    () => store.subjectKey(),
  ]
  for (const change of changes)
    await t.rejects(change(), { message: /the field secret of \{intake\}:rules is lost/ })
  t.equal(await redis.hget('{intake}:rules', 'secret'), null)
  await redis.del('{intake}:suppressed')
  await store.subjectKey()
  t.ok(await redis.hget('{intake}:rules', 'secret'), 'nothing depends on it any more')
})
