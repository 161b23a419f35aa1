import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { createRedisServer } from '@intake/test-kit/redis-server'
import { serve } from '@intake/test-kit/serve'
import t from 'tap'
import { createIntake } from './in-process.ts'

const dataDir = createDataDir(t)
const [port, closed] = await freePorts(2)
const redis = await createRedisServer({ dataDir, port: port! })
t.teardown(() => redis.process.kill())
await redis.process.start()
const clickhouse = await serve(t, (request, response) => {
  request.resume()
  response.writeHead(401, { 'x-clickhouse-exception-code': '516' }).end('Code: 516.')
})
const refusing = `http://intake:wrong@127.0.0.1:${clickhouse.port}`
const intake = createIntake({
  cwd: dataDir,
  env: { REDIS_URL: redis.url, CLICKHOUSE_URL: refusing, S3_ENDPOINT: 'http://a:b@127.0.0.1:1' },
})

t.test('a refused password, or a ClickHouse that is away, names its setting', async (t) => {
  for (const [url, stderr] of [
    [`redis://:wrong@127.0.0.1:${port}`, /^Redis does not accept .* in REDIS_URL\n$/],
    [`redis://127.0.0.1:${port}`, /in REDIS_URL$/m],
    [`redis://127.0.0.1:${closed}`, /^Redis cannot be reached: connect ECONNREFUSED .*\n$/],
  ] as const) {
    t.match(await intake(['keys', 'list'], { REDIS_URL: url }), { code: 1, stdout: '', stderr })
  }
  for (const [env, stderr] of [
    [{}, /516 \(AUTHENTICATION_FAILED\): start ClickHouse, or correct CLICKHOUSE_URL$/m],
    [
      { CLICKHOUSE_URL: `http://intake@127.0.0.1:${closed}` },
      /ECONNREFUSED.*: start ClickHouse, or correct CLICKHOUSE_URL$/m,
    ],
  ] as const) {
    t.match(await intake(['dead-letters', 'list'], env), { code: 1, stderr })
  }
})

t.test('a refused value is not called a failure of Redis', async (t) => {
  const create = ['keys', 'create', '--name', 'a', '--from-env', 'SHORT']
  t.match(await intake(create, { REDIS_URL: redis.url, SHORT: 'short' }), {
    code: 1,
    stderr: /^an API key needs at least 16 characters$/m,
  })
})
