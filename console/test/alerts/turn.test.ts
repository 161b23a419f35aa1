import t from 'tap'
import type { Alert } from '@intake/access'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createTurn } from '../../src/alerts/alerts.ts'
import { isDue, removalOf, rowOf, type AlertChange } from '../../src/alerts/changes.ts'

const redis = openRedis(t, await ownRedis(t))
const take = createTurn(redis)
const hourMs = 3_600_000

t.test('one console at a time has the turn', async (t) => {
  t.equal(await take(hourMs), true)
  t.equal(await take(hourMs), false)
  const { now } = Date
  t.teardown(() => (Date.now = now))
  Date.now = () => now() + 2 * hourMs
  t.equal(await take(hourMs), false, 'nor one whose clock is ahead')
  await redis.del('{intake}:alerts:turn')
  t.equal(await take(hourMs), true)
})

t.test('a turn ends in time when the clock of Redis has stepped back', async (t) => {
  // The key of a turn of a minute then lives for an hour, or for a day.
  await redis.set('{intake}:alerts:turn', Date.now() - 61_000, 'PX', hourMs)
  t.equal(await take(60_000), true)
  t.equal(await take(60_000), false)
  t.ok((await redis.pttl('{intake}:alerts:turn')) <= 60_000)
  // The clock of the console was wrong, too.
  await redis.set('{intake}:alerts:turn', Date.now() + 24 * hourMs, 'PX', 24 * hourMs)
  t.equal(await take(60_000), true)
})

t.test('an alert is due when its evaluation is long ago, or in the future', async (t) => {
  const last = { evaluated_at: '2026-11-30 12:00:00.000' }
  const isDueAt = (time: string) => isDue({ minutes: 5 }, last, Date.parse(`2026-11-30T${time}Z`))
  t.same(['11:00:00', '12:00:20', '12:00:40'].map(isDueAt), [true, false, true])
})

t.test('after a step back of the clock a row still replaces the one before', (t) => {
  const time = '2026-11-30 12:00:00.000'
  const last = { change: 1, state: 'ok', told: 'ok', since: time, evaluated_at: time }
  const nowMs = Date.parse('2026-11-30T09:00:00Z')
  const evaluated = { alert: { minutes: 5 } as Alert, state: 'ok', found: { value: 1 } } as const
  const row = rowOf(evaluated, last as AlertChange, nowMs)
  t.match(row, { change: 1, evaluated_at: '2026-11-30T12:00:00.001Z' })
  t.equal(row['valid_until'], '2026-11-30T09:05:00.000Z', 'it is unknown if nobody evaluates it')
  const removal = removalOf(last as AlertChange, nowMs)
  t.match(removal, { evaluated_at: '2026-11-30T12:00:00.001Z', is_removed: 1 })
  t.end()
})
