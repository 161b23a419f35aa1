import t from 'tap'
import { createApiKeyStore, dayCountName, sharedCountKey } from '@intake/access'
import { claimInstallation } from '@intake/redis'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createPageState } from '../../src/admin/page-state.ts'

const { url } = await ownRedis(t)
const redis = openRedis(t, { url })
await claimInstallation(redis, 'installation of the test')

t.test('a key that has used most of its day is shown, with the share of today', async (t) => {
  const keys = createApiKeyStore({ redis, who: 'test' })
  for (const [name, used] of [
    ['busy', 91],
    ['calm', 79],
  ] as const) {
    const { key } = await keys.create({ name, limits: { eventsPerDay: 100 } })
    await redis.set(sharedCountKey(dayCountName(key.id, Date.now(), 'eventsPerDay')), used)
  }
  const state = createPageState({
    redis,
    backlogs: { of: () => undefined },
    stored: { state: () => undefined, lastVisibleUntil: () => ({}) },
    problems: { present: () => [] },
    reported: { problems: () => [] },
    noThumbnails: () => undefined,
  })
  t.same(await state.keyBudgets(), [{ name: 'busy', limit: 'events', share: 0.91 }])
  t.same([...(await state.keyNames()).values()].toSorted(), ['busy', 'calm'])
  const [busy] = await keys.list()
  await keys.setState(busy!.id, 'revoked')
  t.same(await state.keyBudgets(), [], 'a key that was revoked is refused anyway')
  for (let n = 0; n < 11; n++) {
    const { key } = await keys.create({ name: `${n}`, limits: { eventsPerDay: 100 } })
    await redis.set(sharedCountKey(dayCountName(key.id, Date.now(), 'eventsPerDay')), 90)
  }
  t.equal((await state.keyBudgets()).length, 10, 'no view is long because of many keys')
})
