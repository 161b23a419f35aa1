import t from 'tap'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { startAlerts } from '../../src/alerts/alerts.ts'
import { isDue } from '../../src/alerts/changes.ts'

const redis = openRedis(t, await ownRedis(t))

t.test('one console at a time has the turn', async (t) => {
  const runs: string[] = []
  const begin = (console: string) => {
    const { close } = startAlerts({
      redis: { set: (...args) => redis.set(...args).finally(() => runs.push(`${console} asked`)) },
      run: async () => void runs.push(`${console} ran`),
      onError: (error) => t.fail(String(error)),
    })
    t.teardown(close)
  }
  begin('one')
  await until('it has run', () => runs.includes('one ran'))
  begin('two')
  await until('it has asked', () => runs.includes('two asked'))
  t.notOk(runs.includes('two ran'))
  const ms = await redis.pttl('{intake}:alerts:turn')
  t.ok(ms > 0 && ms < 60_000, 'the turn ends before the next poll')
})

t.test('an alert is due when its evaluation is long ago, or in the future', async (t) => {
  const last = { evaluated_at: '2026-11-30 12:00:00.000' }
  const isDueAt = (time: string) => isDue({ minutes: 5 }, last, Date.parse(`2026-11-30T${time}Z`))
  t.same(['11:00:00', '12:00:20', '12:00:40'].map(isDueAt), [true, false, true])
})
