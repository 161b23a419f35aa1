import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { createMetrics } from '@intake/runtime/process'
import { requireSameInstallation } from '@intake/schema'
import { logTo } from '@intake/test-kit/log-to'
import { startConsoleProblems } from '../src/watch/problems.ts'

const failed = (kind: 'operator' | 'retry') => new ClickHouseError(`it is ${kind}`, { kind })

function problemsIn(options: {
  redis?: string
  reports?: string
  reading?: unknown
  marks?: unknown
  hasReader?: boolean
}) {
  const problems = startConsoleProblems({
    redisConnection: () => options.redis,
    reported: { failure: () => options.reports },
    stored: { error: () => options.reading },
    installation: { error: () => options.marks },
    hasReader: options.hasReader ?? true,
    log: logTo(() => {}),
    metrics: createMetrics(),
    uptimeMs: () => 60_000,
  })
  const present = problems.present()
  problems.close()
  return present
}

t.test('without Redis the console is still ready, because its views say so', async (t) => {
  t.match(problemsIn({ redis: 'closed' }), [
    { code: 'redis_connection', state: 'degraded', detail: 'closed' },
  ])
})

t.test('a Redis that hangs is a problem, although the connection is open', async (t) => {
  const detail = 'reading the reports of workers took longer than 3000 ms'
  t.match(problemsIn({ reports: detail }), [{ code: 'redis_connection', detail }])
})

t.test('a reader who may not read is a problem; one that is away is not', async (t) => {
  const detail =
    'dead letters and watermark cannot be read with PAGE_CLICKHOUSE_URL: it is operator'
  t.match(problemsIn({ reading: failed('operator') }), [{ code: 'page_fails', detail }])
  t.same(problemsIn({ reading: failed('retry') }), [])
  t.same(problemsIn({ reading: failed('operator'), hasReader: false }), [])
})

t.test('Redis and ClickHouse of different installations degrade the console', async (t) => {
  const clickhouse = { query: async <Row>() => [{ id: 'one' }] as Row[] }
  await requireSameInstallation('one', clickhouse)
  await requireSameInstallation(null, clickhouse)
  const marks = await requireSameInstallation('another', clickhouse).catch((error: Error) => error)
  t.match(problemsIn({ marks }), [{ code: 'configuration', state: 'degraded' }])
  t.same(problemsIn({ marks: failed('retry') }), [])
})
