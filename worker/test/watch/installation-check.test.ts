import { EventEmitter } from 'node:events'
import t, { type Test } from 'tap'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import type { Backlogs } from '@intake/queue'
import type { JobSource } from '@intake/queue/consume'
import { createTestClock } from '@intake/test-kit/test-clock'
import {
  readWhileConfirmed,
  startInstallationCheck,
  whileConfirmed,
} from '../../src/watch/installation-check.ts'

const intervalMs = 2_000

/** Starts a check and waits for its first comparison. */
async function compare(t: Test, marks: { redis: string | null; clickhouse: string | null }) {
  const clock = createTestClock()
  const redis = new EventEmitter()
  let failure: ClickHouseError | undefined
  let isFrozen = false
  let whileReading = () => {}
  const check = startInstallationCheck({
    redis,
    async readMark() {
      whileReading()
      return isFrozen ? new Promise(() => {}) : marks.redis
    },
    clickhouse: {
      query: (async () => {
        if (failure !== undefined) throw failure
        return marks.clickhouse === null ? [] : [{ id: marks.clickhouse }]
      }) as ClickHouse['query'],
    },
    intervalMs,
    timeoutMs: 3_000,
    clock,
  })
  t.teardown(check.close)
  t.equal(check.isConfirmed(), false, 'nothing is taken before the first comparison')
  await clock.advance(0)
  return {
    check,
    redis,
    marks,
    freeze: () => void (isFrozen = true),
    onRead: (run: () => void) => (whileReading = run),
    fail: (kind: 'operator' | 'retry') => (failure = new ClickHouseError(kind, { kind })),
    next: () => clock.advance(intervalMs),
  }
}

t.test('frames of the same installation may be taken', async (t) => {
  const { check } = await compare(t, { redis: 'one', clickhouse: 'one' })
  t.equal(check.isConfirmed(), true)
  t.equal(check.difference(), undefined)
})

t.test('frames of another installation may not', async (t) => {
  const { check, marks, next } = await compare(t, { redis: 'other', clickhouse: 'one' })
  t.equal(check.isConfirmed(), false)
  t.match(check.difference(), 'different installations')
  marks.redis = 'one'
  await next()
  t.equal(check.isConfirmed(), true)
  t.equal(check.difference(), undefined)
})

t.test('nor into a ClickHouse without a mark', async (t) => {
  const { check } = await compare(t, { redis: 'one', clickhouse: null })
  t.equal(check.isConfirmed(), false)
  t.match(check.difference(), 'no installation')
})

t.test('a Redis that has lost its mark is reported as that', async (t) => {
  const { check } = await compare(t, { redis: null, clickhouse: 'one' })
  t.equal(check.isConfirmed(), true)
  t.equal(check.difference(), undefined)
})

t.test('a new connection to Redis must be confirmed again', async (t) => {
  const { check, redis, next } = await compare(t, { redis: 'one', clickhouse: 'one' })
  redis.emit('close')
  t.equal(check.isConfirmed(), false)
  await next()
  t.equal(check.isConfirmed(), true)
})

t.test('a mark of a connection that ended meanwhile does not count', async (t) => {
  const { check, redis, next, onRead } = await compare(t, { redis: 'one', clickhouse: 'one' })
  onRead(() => redis.emit('close'))
  await next()
  t.equal(check.isConfirmed(), false)
})

t.test('a Redis that does not respond is not a fault of ClickHouse', async (t) => {
  const { check, freeze, next } = await compare(t, { redis: 'one', clickhouse: 'one' })
  freeze()
  for (let poll = 0; poll < 3; poll++) await next()
  t.equal(check.problem(), undefined)
  t.equal(check.isConfirmed(), true)
})

t.test('while ClickHouse cannot be read the last result counts', async (t) => {
  const { check, fail, next } = await compare(t, { redis: 'one', clickhouse: 'one' })
  fail('operator')
  await next()
  t.equal(check.isConfirmed(), true)
  t.match(check.problem(), 'intake.installation')
  t.match(check.error(), { kind: 'operator' })
})

t.test('a queue that is not confirmed seems empty, but completes what was claimed', async (t) => {
  const job = { id: 'a', data: undefined, attempts: 1 }
  const source = {
    peek: async () => ({ count: 1, oldest: 'a' }),
    claim: async () => job,
    complete: async (_job, { claimNext }) => (claimNext ? job : undefined),
  } as Partial<JobSource> as JobSource
  let isConfirmed = false
  const guarded = whileConfirmed(source, () => isConfirmed)
  const use = async () => [
    (await guarded.peek()).count,
    await guarded.claim(),
    await guarded.complete(job, { claimNext: true }),
  ]
  t.same(await use(), [0, undefined, undefined])
  isConfirmed = true
  t.same(await use(), [1, job, job])
})

t.test('what the queues hold is not known when the connection ends meanwhile', async (t) => {
  const backlogs = {} as Backlogs
  let isConfirmed = true
  let endsMeanwhile = false
  const read = readWhileConfirmed(
    async () => {
      isConfirmed = !endsMeanwhile
      return backlogs
    },
    () => isConfirmed,
  )
  t.equal(await read(), backlogs)
  endsMeanwhile = true
  t.equal(await read(), undefined)
  t.equal(await read(), undefined)
})
