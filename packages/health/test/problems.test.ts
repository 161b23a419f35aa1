import { readFileSync } from 'node:fs'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { byCause } from '../src/problem-catalogue.ts'
import { Registry } from '@intake/runtime/process'
import { createTestClock } from '@intake/test-kit/test-clock'
import { logTo } from '@intake/test-kit/log-to'
import { adminRoutes, createRate, notKnown, pollCheck, startProblems } from '../src/index.ts'
import { helpOf, problemCatalogue, type ProblemCode } from '../src/problem-catalogue.ts'

const noon = Date.UTC(2026, 10, 23, 12)

/** Watches the problems of a process. A test causes a problem by setting its member of `broken`. */
function watch(t: Test, { states = {} }: Pick<Parameters<typeof startProblems>[0], 'states'> = {}) {
  const clock = createTestClock()
  const broken: Partial<Record<ProblemCode, string | typeof notKnown>> = {}
  const lines: Record<string, unknown>[] = []
  const metrics = new Registry()
  const problems = startProblems({
    checks: {
      redis_connection: () => broken.redis_connection,
      queue_full: () => broken.queue_full,
      worker_stuck: () => broken.worker_stuck,
    },
    noted: ['locks_lost'],
    states,
    log: logTo((line) => void lines.push(JSON.parse(line))),
    metrics,
    clock,
    wallMs: () => noon + clock.now(),
  })
  t.teardown(() => problems.close())
  return { clock, broken, lines, metrics, problems }
}

t.test('each problem has a page, or a section of one', (t) => {
  for (const code of Object.keys(problemCatalogue) as ProblemCode[]) {
    const [path = '', section] = helpOf(code).split('#')
    const page = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
    t.match(page, section === undefined ? /^# / : new RegExp(`^## ${section}$`, 'm'), code)
  }
  t.end()
})

t.test('a problem is logged when it begins and when it is over', async (t) => {
  const { clock, broken, lines, problems } = watch(t)
  await clock.advance(5_000)
  t.same(problems.present(), [])
  broken.redis_connection = 'not connected'
  await clock.advance(3_000)
  broken.queue_full = 'no capacity for logs'
  await clock.advance(30_000)
  t.match(problems.present(), [
    {
      code: 'redis_connection',
      state: 'down',
      since: '2026-11-23T12:00:06.000Z',
      detail: 'not connected',
      help: 'docs/operations/redis-connection.md',
    },
    { code: 'queue_full', state: 'degraded' },
  ])
  t.match(lines, [
    { level: 50, problem: 'redis_connection' },
    { level: 40, problem: 'queue_full' },
  ])
  delete broken.redis_connection
  t.match(problems.present(), [{ code: 'queue_full' }], 'it is over at once')
  await clock.advance(20_000)
  t.match(lines[2], { level: 30, problem: 'redis_connection', msg: /^over: Redis/ })
})

t.test('the state of a problem can change; one that becomes worse is logged again', async (t) => {
  let state: 'degraded' | 'down' = 'degraded'
  const { clock, broken, lines, problems } = watch(t, { states: { queue_full: () => state } })
  broken.queue_full = 'a shard is full'
  await clock.advance(5_000)
  t.match(problems.present(), [{ state: 'degraded' }])
  state = 'down'
  broken.queue_full = 'everything is full'
  t.match(problems.present(), [{ state: 'down' }])
  await clock.advance(5_000)
  state = 'degraded'
  await clock.advance(5_000)
  t.match(lines, [
    { level: 40, detail: 'a shard is full' },
    { level: 50, detail: 'everything is full' },
  ])
  t.equal(lines.length, 2)
})

t.test('a problem that returns within ten seconds is the same one', async (t) => {
  const { clock, broken, lines, problems } = watch(t)
  for (const reason of ['one', undefined, 'two'] as const) {
    if (reason === undefined) delete broken.queue_full
    else broken.queue_full = reason
    await clock.advance(5_000)
  }
  t.match(problems.present(), [{ detail: 'two', since: '2026-11-23T12:00:00.000Z' }])
  t.equal(lines.length, 1)
})

t.test('an event is a problem for a while', async (t) => {
  const { clock, lines, metrics, problems } = watch(t)
  problems.note('locks_lost', '3 frames', 60_000)
  await clock.advance(50_000)
  t.match(problems.present(), [{ code: 'locks_lost', detail: '3 frames', state: 'degraded' }])
  t.match(await metrics.metrics(), /intake_problem\{code="locks_lost"\} 1\n/)
  t.match(await metrics.metrics(), /intake_ready 1\n/)
  problems.note('locks_lost', '4 frames', 60_000)
  await clock.advance(50_000)
  t.match(problems.present(), [{ detail: '4 frames', since: '2026-11-23T12:00:00.000Z' }])
  t.match(lines, [{ level: 40, problem: 'locks_lost', detail: '3 frames' }])
  await clock.advance(30_000)
  t.same(problems.present(), [])
  t.match(lines[1], { level: 30, msg: /^over: / })
  t.match(await metrics.metrics(), /intake_problem\{code="locks_lost"\} 0\n/)
})

t.test('every admin route reports the same problems', async (t) => {
  const { broken, metrics, problems } = watch(t)
  let scaling: Record<string, number> | undefined = { drain_seconds: 3 }
  const facts = () => ({ rows: 7 })
  const app = fastify()
  const service = 'worker'
  await app.register(adminRoutes({ service, problems, facts, scaling: () => scaling, metrics }))
  const get = async (path: string) => {
    const response = await app.inject(path)
    return { status: response.statusCode, text: response.body }
  }
  t.match(await get('/readyz'), { status: 200, text: '{"status":"ready"}' })
  t.match(JSON.parse((await get('/status')).text), {
    service: 'worker',
    state: 'ok',
    problems: [],
    ready: true,
    version: '0.1.0',
    node: process.versions.node,
    started_at: /^\d{4}-/,
    rows: 7,
  })
  t.match(await get('/scaling'), { status: 200, text: '{"drain_seconds":3}' })
  scaling = undefined
  t.match(await get('/scaling'), { status: 503 }, 'an autoscaler keeps what it has')

  broken.queue_full = 'no capacity'
  t.match(await get('/readyz'), {
    status: 200,
    text: '{"status":"ready, degraded","degraded":{"queue_full":"no capacity"}}',
  })
  broken.redis_connection = 'not connected'
  t.match(await get('/readyz'), {
    status: 503,
    text: '{"status":"not ready","failed":{"redis_connection":"not connected"}}',
  })
  t.match(await get('/healthz'), { status: 200 }, 'a restart would not help')
  t.match(JSON.parse((await get('/status')).text), { state: 'down', ready: false })
  broken.worker_stuck = 'frames of logs wait'
  t.match(await get('/healthz'), {
    status: 503,
    text: '{"status":"stuck","detail":"frames of logs wait"}',
  })
  const text = (await get('/metrics')).text
  t.match(text, 'intake_ready 0')
  t.match(text, 'intake_problem{code="redis_connection"} 1')
})

t.test('while a check has no result, no problem begins or ends', async (t) => {
  const { clock, broken, lines, metrics, problems } = watch(t)
  broken.queue_full = notKnown
  await clock.advance(5_000)
  t.same(problems.present(), [])
  t.notMatch(await metrics.metrics(), 'code="queue_full"', 'nor is all well')
  broken.queue_full = 'logs'
  await clock.advance(5_000)
  const [{ since } = { since: '' }] = problems.present()
  broken.queue_full = notKnown
  await clock.advance(60_000)
  t.match(problems.present(), [{ code: 'queue_full', detail: 'logs', since }])
  delete broken.queue_full
  await clock.advance(15_000)
  t.same(problems.present(), [])
  t.equal(lines.length, 2, 'it began and ended once')
})

t.test('a problem that was over does not return while its check cannot tell', async (t) => {
  const { clock, broken, lines, problems } = watch(t)
  broken.queue_full = 'logs'
  await clock.advance(4_000)
  delete broken.queue_full
  await clock.advance(5_000)
  broken.queue_full = notKnown
  await clock.advance(1_000)
  t.same(problems.present(), [])
  await clock.advance(60_000)
  t.same(problems.present(), [])
  t.match(lines[1], { seconds: 4, msg: /^over: / }, 'the log says how long it was present')
})

t.test('a check that takes too long has failed', async (t) => {
  const clock = createTestClock()
  let check = () => Promise.resolve()
  const polled = pollCheck({
    what: 'Redis',
    check: () => check(),
    intervalMs: 2_000,
    timeoutMs: 1_000,
    clock,
  })
  t.equal(polled.problem(), 'Redis has not responded yet')
  await clock.advance(100)
  t.equal(polled.problem(), undefined)
  check = () => new Promise(() => {})
  await clock.advance(4_000)
  t.equal(polled.problem(), 'Redis took longer than 1000 ms')
  check = () => Promise.reject(new Error('read only'))
  await clock.advance(4_000)
  t.equal(polled.problem(), 'read only')
  polled.close()
})

t.test('a rate is that of the last 15 full seconds', async (t) => {
  const clock = createTestClock()
  const rate = createRate(clock)
  t.equal(rate.perSecond(), 0)
  for (let second = 0; second < 30; second++) {
    rate.add(20)
    rate.add(10)
    await clock.advance(1_000)
  }
  t.equal(rate.perSecond(), 30)
  await clock.advance(5_000)
  t.equal(rate.perSecond(), 20)
  await clock.advance(60_000)
  t.equal(rate.perSecond(), 0)
})

t.test('a check that is asked for while it runs follows at once', async (t) => {
  const clock = createTestClock()
  const begun: (() => void)[] = []
  const polled = pollCheck({
    what: 'Redis',
    check: () => new Promise((resolve) => begun.push(resolve)),
    intervalMs: 2_000,
    timeoutMs: 60_000,
    clock,
  })
  polled.checkNow()
  begun[0]?.()
  await clock.advance(0)
  t.equal(begun.length, 2, 'after the first one')
  begun[1]?.()
  await clock.advance(0)
  t.equal(begun.length, 2)
  polled.checkNow()
  await clock.advance(0)
  t.equal(begun.length, 3, 'before its interval has passed')
  polled.close()
})

t.test('in a list, what causes other problems comes first, then the oldest', async (t) => {
  const list = ['backlog', 'dead_letters', 'watermark', 'insert_retry', 'queue_paused'] as const
  const problems = list.map((code, second) => ({ code, since: `2026-11-28T10:00:0${second}.000Z` }))
  const codes = problems.toSorted(byCause).map(({ code }) => code)
  t.same(codes, ['insert_retry', 'dead_letters', 'queue_paused', 'backlog', 'watermark'])
})
