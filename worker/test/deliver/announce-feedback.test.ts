import t, { type Test } from 'tap'
import { markDeliveries, feedbackWebhook } from '@intake/queue/consume'
import { claimInstallation, connectRedis, type Redis } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { logTo } from '@intake/test-kit/log-to'
import { createFeedbackAnnouncer } from '../../src/deliver/announce-feedback.ts'

const redisServer = await ownRedis(t)
const mark = '{intake}:feedback-webhook:meta'
const idOf = (n: number) => `019aaaaa-0000-7000-8000-${String(n).padStart(12, '0')}`
const rowOf = (n: number, api_key_id = 'key_1') =>
  JSON.stringify({ id: idOf(n), api_key_id, text: 'It broke' })
const waiting = async (redis: Redis) =>
  (await redis.lrange('{intake}:feedback-webhook:wait', 0, -1)).toSorted()

async function start(t: Test, { isWanted = true } = {}) {
  const redis = connectRedis({ url: redisServer.url, role: 'consumer', onError: () => {} })
  await redis.flushall()
  if (isWanted) await redis.hset(mark, 'wanted', 1)
  const lines: string[] = []
  const failed: string[] = []
  const announcer = createFeedbackAnnouncer({
    redis,
    log: logTo((line) => void lines.push(line)),
    onError: () => {},
    onFailed: (detail) => void failed.push(detail),
  })
  t.teardown(async () => {
    await announcer.close()
    redis.disconnect()
  })
  return { announcer, lines, failed, redis }
}

t.test('feedback is announced only while a console wants it', async (t) => {
  const { announcer, redis } = await start(t, { isWanted: false })
  await claimInstallation(redis, 'an installation')
  await announcer.announce([rowOf(1)])
  t.same(await waiting(redis), [])
  t.equal(await redis.exists(mark), 0, 'announcing creates no mark')

  const options = {
    redis,
    queue: feedbackWebhook,
    onError: (error: unknown) => t.error(error),
  }
  const wants = markDeliveries({ ...options, isWanted: true })
  await until('it is wanted', async () => (await redis.exists(mark)) === 1)
  wants.close()
  await announcer.announce([rowOf(2)])
  await announcer.announce([rowOf(2)])
  t.same(await waiting(redis), [`${idOf(2)}.key_1`])

  const wantsNot = markDeliveries({ ...options, isWanted: false })
  await until('it is not wanted', async () => (await redis.exists(mark)) === 0)
  wantsNot.close()
  await announcer.announce([rowOf(3)])
  t.same(await waiting(redis), [`${idOf(2)}.key_1`], 'what waits is kept')
})

/** Fills the queue with deliveries that are due much later. */
async function fill(redis: Redis, count: number, sender: string): Promise<void> {
  const due = String(Date.now() * 8_192)
  const delayed = Array.from({ length: count }, (_, n) => [due, `d${n}.${sender}`])
  await redis.zadd('{intake}:feedback-webhook:delayed', ...delayed.flat())
}

t.test('beyond the limit nothing is added, and the log says so', async (t) => {
  const { announcer, lines, redis, failed } = await start(t)
  for (const sender of ['key_1', 'key_2']) await fill(redis, 5_000, sender)
  await announcer.announce([rowOf(1, 'key_3'), rowOf(2, 'key_4')])
  t.match(JSON.parse(lines.join('')), { omitted: 2, help: 'docs/operations/webhook-fails.md' })
  t.match(failed, ['too many requests wait'])
})

t.test('one API key fills at most half of the queue', async (t) => {
  const { announcer, lines, redis } = await start(t)
  await fill(redis, 4_999, 'key_1')
  await announcer.announce([rowOf(1), rowOf(2), rowOf(3), rowOf(4, 'key_2')])
  t.match(JSON.parse(lines.join('')), { omitted: 2 })
  t.same(await waiting(redis), [`${idOf(1)}.key_1`, `${idOf(4)}.key_2`])
})

t.test('two API keys leave room for another', async (t) => {
  const { announcer, lines, redis } = await start(t)
  for (const sender of ['key_1', 'key_2']) await fill(redis, 3_333, sender)
  await announcer.announce([rowOf(1), rowOf(2), rowOf(3, 'key_2'), rowOf(4, 'key_3')])
  t.match(JSON.parse(lines.join('')), { omitted: 2 })
  t.same(await waiting(redis), [`${idOf(1)}.key_1`, `${idOf(4)}.key_3`])
})

t.test('announcing rejects while Redis does not respond', async (t) => {
  const { announcer } = await start(t)
  process.kill(redisServer.pid, 'SIGSTOP')
  try {
    await t.rejects(announcer.announce([rowOf(1)]), { name: 'TimeoutError' })
  } finally {
    process.kill(redisServer.pid, 'SIGCONT')
  }
  await announcer.announce([rowOf(1)])
})
