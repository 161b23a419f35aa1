import t from 'tap'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import { createApiKeyStore, createPolicyStore, createWaitingEntries } from '../src/index.ts'

const redis = openRedis(t, await ownRedis(t))
await redis.set('{intake}:installation', 'one')
const keys = createApiKeyStore({ redis, who: 'ana' })
const policy = createPolicyStore({ redis, who: 'ana' })

const entries = async () => {
  const rows = await createWaitingEntries({ redis }).peek(100)
  return rows.map((row) => JSON.parse(row) as { who: string; action: string; subject: string })
}

t.test('a change leaves one entry, and what changes nothing leaves none', async (t) => {
  const secret = 'a secret of a key'
  const { key } = await keys.create({ name: 'web', secret })
  await keys.create({ name: 'again', secret })
  await keys.set(key.id, { name: 'web' })
  await keys.setState(key.id, 'active')
  await keys.setState(key.id, 'revoked')
  await keys.setState(key.id, 'suspended')
  await keys.set('key_000000000000', { name: 'none' })
  const rule = await policy.addRule({ action: 'drop', match: { event: 'noise' } }, 'bo')
  await policy.removeRule(rule!.id)
  await policy.removeRule(rule!.id)
  const person = { kind: 'user', id: 'anna@example.com' } as const
  await policy.unsuppress(person)
  await policy.suppress(person)
  await policy.suppress(person)
  await policy.unsuppress(person)
  const found = await entries()
  t.match(found, [
    { who: 'ana', action: 'key-created', subject: key.id },
    { who: 'ana', action: 'key-revoked', subject: key.id },
    { who: 'bo', action: 'rule-added', subject: rule!.id },
    { who: 'ana', action: 'rule-removed', subject: rule!.id },
    { who: 'ana', action: 'sender-suppressed' },
    { who: 'ana', action: 'sender-unsuppressed' },
  ])
  t.equal(found.length, 6)
  t.notMatch(JSON.stringify(found), /anna|a secret/)
})

t.test('a Redis without memory removes nothing, because it cannot announce that', async (t) => {
  const rule = await policy.addRule({ action: 'drop', match: { event: 'noise' } }, 'bo')
  await redis.config('SET', 'maxmemory', '1')
  t.teardown(() => redis.config('SET', 'maxmemory', '0'))
  await t.rejects(policy.removeRule(rule!.id), /OOM/)
  t.ok(await redis.hexists('{intake}:rules', rule!.id))
})
