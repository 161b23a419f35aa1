import t from 'tap'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createTurn } from '../../src/alerts/alerts.ts'
import { isDue } from '../../src/alerts/changes.ts'

const redis = openRedis(t, await ownRedis(t))
const take = createTurn(redis)
const hourMs = 3_600_000

t.test('one console at a time has the turn', async (t) => {
  t.equal(await take(hourMs), true)
  t.equal(await take(hourMs), false)
  await redis.del('{intake}:alerts:turn')
  t.equal(await take(hourMs), true)
})

t.test('an alert is due when its evaluation is long ago, or in the future', async (t) => {
  const last = { evaluated_at: '2026-11-30 12:00:00.000' }
  const isDueAt = (time: string) => isDue({ minutes: 5 }, last, Date.parse(`2026-11-30T${time}Z`))
  t.same(['11:00:00', '12:00:20', '12:00:40'].map(isDueAt), [true, false, true])
})
