import t from 'tap'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createReservationUsages } from '../src/reservation-usage.ts'

const server = await ownRedis(t)
const redis = openRedis(t, server)

const clock = createTestClock()
function open() {
  const { logs, feedback } = createReservationUsages({ redis, clock })
  const sync = (day: number) => Promise.all([logs.sync(day), feedback.sync(day)])
  return { logs, feedback, sync }
}
const today = 20_000
const key = `{intake}:reservations:used:logs:${today}`

t.test('a count that is damaged is 0, and the others are counted once', async (t) => {
  for (const damaged of ['', 'garbage', '1.5', 'NaN', 'Infinity', '-7', '{"v":2}']) {
    await redis.flushall()
    await redis.hset(key, { damaged, other: '10' })
    const usage = open()
    for (const apiKeyId of ['damaged', 'other', 'other']) usage.logs.add(apiKeyId)
    await usage.sync(today)
    await usage.sync(today)
    t.equal(usage.logs.of('other'), 12, damaged)
    t.equal(usage.logs.of('damaged'), 0, damaged)
    t.equal(usage.logs.total(), 12, damaged)
    t.equal(usage.logs.largest(), 12, damaged)
  }
})

t.test('another type under the counts of a day harms no other day or kind', async (t) => {
  await redis.flushall()
  await redis.set(key, 'garbage')
  await redis.hset(`{intake}:reservations:used:logs:${today - 1}`, { other: '10' })
  const usage = open()
  usage.logs.add('other')
  usage.feedback.add('other')
  await usage.sync(today)
  await usage.sync(today)
  t.equal(usage.logs.total(), 10)
  t.equal(usage.feedback.total(), 1)
})

t.test('the days that cannot change are read once', async (t) => {
  await redis.flushall()
  for (const daysAgo of [1, 2, 3]) {
    await redis.hset(`{intake}:reservations:used:logs:${today - daysAgo}`, { other: '10' })
  }
  const usage = open()
  await usage.sync(today)
  t.equal(usage.logs.total(), 30)
  const callsOf = async () => {
    const info = await redis.info('commandstats')
    return Number(/cmdstat_hgetall:calls=(\d+)/.exec(info)?.[1] ?? 0)
  }
  const before = await callsOf()
  // Another gateway, which has not noticed midnight yet, has made five reservations.
  await redis.hincrby(`{intake}:reservations:used:logs:${today - 1}`, 'other', 5)
  await usage.sync(today)
  t.equal(usage.logs.total(), 35)
  t.equal((await callsOf()) - before, 4, 'today and yesterday, of two kinds')
  await usage.sync(today + 1)
  t.equal(usage.logs.total(), 25, 'the oldest day is over')
  t.equal((await callsOf()) - before, 4 + 35, 'all days, because another one has begun')
})

t.test('the days that cannot change are read again after ten minutes', async (t) => {
  await redis.flushall()
  const old = `{intake}:reservations:used:logs:${today - 3}`
  await redis.hset(old, { other: '10' })
  const usage = open()
  await usage.sync(today)
  await redis.del(old)
  await clock.advance(600_000)
  await usage.sync(today)
  t.equal(usage.logs.total(), 10)
  await clock.advance(1)
  await usage.sync(today)
  t.equal(usage.logs.total(), 0, 'Redis has lost them')
})

t.test('more API keys than a call may have arguments can have reservations', async (t) => {
  await redis.flushall()
  for (let first = 0; first < 140_000; first += 20_000) {
    const keys = Array.from({ length: 20_000 }, (_, n) => [`key_${first + n}`, String(n)] as const)
    await redis.hset(key, Object.fromEntries(keys))
  }
  const { logs } = createReservationUsages({ redis, clock })
  await logs.sync(today)
  t.equal(logs.largest(), 19_999)
})
