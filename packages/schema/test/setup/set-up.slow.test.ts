import t from 'tap'
import { createApiKeyStore } from '@intake/access'
import { readShards, registerShard, shardMarkKey } from '@intake/queue'
import { primaryOf } from '@intake/redis'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownClickHouse, ownRedis, ownS3 } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { inspectClickHouse } from '../../src/index.ts'
import { setUp, SetupError } from '../../src/setup/set-up.ts'

const [redisServer, clickhouseServer, s3] = await Promise.all([
  ownRedis(t),
  ownClickHouse(t),
  ownS3(t),
])
const redis = openRedis(t, redisServer)
const clickhouse = openClickHouse(t, { url: clickhouseServer.url })

const options = {
  redisUrl: redisServer.url,
  clickhouseUrl: clickhouseServer.url,
  s3: { endpoint: s3.url, bucket: 'intake', region: 'us-east-1' },
  acceptEmptyRedis: false,
  apiKey: { name: 'first', secret: 'the-first-api-key' },
}
const store = createApiKeyStore({ redis })

const refusalOf = (changes: Partial<typeof options>): Promise<Error> =>
  setUp({ ...options, ...changes }).then(
    () => t.fail('it must be refused') as never,
    (failure: Error) => failure,
  )
/** Waits 20 seconds for Redis, during the other tests. */
const withoutRedis = refusalOf({ redisUrl: 'redis://x:y@127.0.0.1:1' })

t.test('two concurrent setups create one installation; later ones change nothing', async (t) => {
  await Promise.all([setUp(options), setUp(options)])
  t.same(await setUp(options), { applied: [], waiting: [] })
  t.match(await store.list(), [{ name: 'first' }])
  t.equal((await store.list()).length, 1)
})

t.test('a revoked first key is not restored', async (t) => {
  const [key] = await store.list()
  await store.setState(key!.id, 'revoked')
  await t.rejects(
    setUp(options),
    new SetupError(`The API key ${key!.id} was revoked: set INTAKE_API_KEY to another one.`),
  )
  const { apiKey: _, ...withoutKey } = options
  await setUp(withoutKey)
})

t.test('a Redis without its data is refused until an operator acknowledges the loss', async (t) => {
  await redis.flushall()
  await t.rejects(setUp(options), { name: 'SetupError', message: /lost its data/ })
  await t.rejects(store.load(), /no installation/)
  await setUp({ ...options, acceptEmptyRedis: true })
  t.match(await store.list(), [{ name: 'first' }])
})

t.test('so is the Redis of a shard of the queue', async (t) => {
  await registerShard(redis, 1)
  await registerShard(redis, 2)
  await redis.del(shardMarkKey(1))
  await t.rejects(setUp(options), { name: 'SetupError', message: /queue shards 1 holds nothing/ })
  await setUp({ ...options, acceptEmptyRedis: true })
  t.equal(await redis.get(shardMarkKey(1)), await redis.get(shardMarkKey(2)))
  await setUp(options)

  // Simulates that shard 0, which has the registry of the shards, has lost its data. The other
  // shards still have theirs, so setup must restore the registry.
  await redis.del('{intake}:installation', '{intake}:shards')
  /** The commands in the order in which Redis executes them. */
  const executed: string[] = []
  const monitor = await primaryOf(redis).monitor()
  t.teardown(() => monitor.disconnect())
  monitor.on('monitor', (_time: string, args: string[]) =>
    executed.push(args.slice(0, 2).join(' ')),
  )
  await setUp({ ...options, acceptEmptyRedis: true })
  t.same(await readShards(redis), [0, 1, 2])
  await redis.set('end', '')
  await until('the commands are seen', () => executed.includes('set end'))
  const [registered, marked] = ['sadd {intake}:shards', 'set {intake}:installation'].map(
    (command) => executed.indexOf(command),
  )
  t.ok(registered! >= 0 && registered! < marked!, 'before workers rely on the registry')
})

t.test('a missing table is named, and the page says how to get an empty one', async (t) => {
  await clickhouse.command('RENAME TABLE intake.logs_raw TO intake.logs_renamed')
  const isMissing = { name: 'SetupError', message: /the table intake.logs_raw is missing/ }
  await t.rejects(setUp(options), isMissing)
  await clickhouse.command('TRUNCATE TABLE intake.schema_migrations')
  await setUp(options)
  t.same(await clickhouse.query('SELECT count() AS n FROM intake.logs'), [{ n: 0 }])
  await clickhouse.command('DROP TABLE intake.logs_renamed')
})

t.test('a missing column is named', async (t) => {
  await clickhouse.command('ALTER TABLE intake.feedback_raw DROP COLUMN email')
  await t.rejects(setUp(options), { message: /intake.feedback_raw has no column email/ })
  await clickhouse.command('ALTER TABLE intake.feedback_raw ADD COLUMN email Nullable(String)')
  await setUp(options)
})

t.test('what an operator has changed is no reason to fail; doctor names it', async (t) => {
  await clickhouse.command('ALTER TABLE intake.outcomes_raw MODIFY TTL minute + INTERVAL 10 YEAR')
  await setUp(options)
  const { schemaDifferences } = await inspectClickHouse(clickhouse)
  t.same(schemaDifferences, ['the table intake.outcomes_raw has a TTL'])
  await clickhouse.command('ALTER TABLE intake.outcomes_raw REMOVE TTL')
})

t.test('a Redis and a ClickHouse of different installations are refused', async (t) => {
  await redis.set('{intake}:installation', 'another')
  await t.rejects(setUp({ ...options, acceptEmptyRedis: true }), /different installations/)
})

t.test('tables of another version are refused in one sentence with instructions', async (t) => {
  const database = 'DROP DATABASE intake'
  await clickhouse.command(database)
  await redis.flushall()
  await setUp(options)
  // Simulates the tables of an earlier version.
  await clickhouse.command(
    "ALTER TABLE intake.schema_migrations DELETE WHERE name = '0001-logs-and-feedback' " +
      'SETTINGS mutations_sync = 2',
  )
  await clickhouse.command(
    "INSERT INTO intake.schema_migrations (name, checksum) VALUES ('0001-logs-and-feedback', 'x')",
  )
  await t.rejects(setUp(options), {
    name: 'SetupError',
    message:
      'The tables in ClickHouse were created by another version of Intake (0001-logs-and-feedback) and ' +
      'cannot be used by this one: drop the database intake with all its data (with Docker ' +
      'Compose: docker compose down --volumes, which deletes all data), or set CLICKHOUSE_URL to ' +
      'another server.',
  })
  await clickhouse.command(database)
  t.ok((await setUp(options)).applied.length > 0, 'the first suggestion works')
})

t.test('a service that cannot be used is refused with the setting that corrects it', async (t) => {
  const withPassword = (url: string) => url.replace(/:[^:@/]*@/, ':WrOnG@')
  t.match(await withoutRedis, {
    name: 'SetupError',
    message: /ECONNREFUSED.*: check REDIS_URL\.$/,
  })
  await redis.config('SET', 'maxmemory', '100kb')
  t.teardown(() => redis.config('SET', 'maxmemory', '0'))
  for (const [wrong, message] of [
    [{ clickhouseUrl: withPassword(clickhouseServer.url) }, /516 .* correct CLICKHOUSE_URL\.$/],
    [{ clickhouseUrl: 'http://intake:x@127.0.0.1:1' }, /ECONNREFUSED.* correct CLICKHOUSE_URL\.$/],
    [{ redisUrl: withPassword(redisServer.url) }, /accept the user and password in REDIS_URL\.$/],
    [{}, /raise its maxmemory \(REDIS_MAXMEMORY of npm start\)\.$/],
  ] as const) {
    const error = await refusalOf(wrong)
    t.match(error, { name: 'SetupError', message })
    t.notMatch(error.message, 'WrOnG')
  }
})
