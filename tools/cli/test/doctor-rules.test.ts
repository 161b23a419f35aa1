import t from 'tap'
import { findClickHouseProblems } from '../src/doctor/clickhouse.ts'
import { findClockProblems } from '../src/doctor/clocks.ts'
import { findRedisProblems as findProblems } from '../src/doctor/redis.ts'

const findRedisProblems = (facts: Parameters<typeof findProblems>[0]) =>
  findProblems(facts, { assertsDurability: false })

const gibibyte = 1024 ** 3
const redis = {
  name: undefined,
  version: '7.0.15',
  isReplica: false,
  durabilityViolations: [],
  isDurabilityUnreadable: false,
  memory: {
    usedBytes: 1,
    maxBytes: 3 * gibibyte,
    machineBytes: 4 * gibibyte,
    compactHashFields: 512,
  },
}
const clickhouse = {
  version: '26.3.1.1',
  schemaDifferences: [],
  settingViolations: [],
  disks: [{ name: 'default', freeBytes: 10, totalBytes: 100 }],
}

t.test('nothing is wrong at the limits', async (t) => {
  t.same(findRedisProblems(redis), [])
  t.same(findClickHouseProblems(clickhouse), [])
})

t.test('a disk on which less is free than ClickHouse keeps has nothing left', (t) => {
  const full = { name: 'default', freeBytes: -20 * 1024 ** 2, totalBytes: 400 * 1024 ** 2 }
  t.match(findClickHouseProblems({ ...clickhouse, disks: [full] }), [
    { code: 'clickhouse_disk', detail: / has 0 .*B of 400 MiB left, less than 10 %/ },
  ])
  t.end()
})

t.test('old versions are found', async (t) => {
  t.match(findRedisProblems({ ...redis, version: '6.2.14' }), [
    { code: 'redis_version', detail: 'Redis has version 6.2.14, and at least 7 is needed.' },
  ])
  for (const version of ['25.8.2.29', '26.2.9.1']) {
    t.match(findClickHouseProblems({ ...clickhouse, version }), [
      { code: 'clickhouse_version', detail: /at least 26\.3 is needed/ },
    ])
  }
})

t.test('settings that cannot be read are found, unless the operator asserts them', async (t) => {
  const managed = { ...redis, name: 'node-1:6379', isDurabilityUnreadable: true }
  t.match(findRedisProblems(managed), [
    { code: 'redis_could_lose_records', detail: /^Redis node-1:6379 hides its settings/ },
  ])
  t.same(findProblems(managed, { assertsDurability: true }), [])
})

t.test('memory beyond that of the machine, and large hashes, are found', async (t) => {
  const memory = { ...redis.memory, maxBytes: 3.1 * gibibyte, compactHashFields: 64 }
  t.match(findRedisProblems({ ...redis, memory }), [
    { code: 'redis_memory', detail: /more than three quarters/ },
    { code: 'redis_memory', detail: /hash-max-listpack-entries 64/ },
  ])
})

t.test('clocks that differ from each other by more than gateways accept are found', async (t) => {
  const ahead = (ms: number) => ({ min: ms - 10, max: ms + 10 })
  const isFound = (redisMs: number, clickhouseMs: number) =>
    findClockProblems(
      { redis: ahead(redisMs), clickhouse: ahead(clickhouseMs) },
      { skewMaxMs: 5_000 },
    ).length === 1
  t.notOk(isFound(0, 0))
  t.notOk(isFound(5_005, -5_005 + 10_000), 'a difference that may be the time of the way')
  for (const [redisMs = 0, clickhouseMs = 0] of [
    [60_000, 0],
    [0, -60_000],
    [-60_000, -60_000],
    [-3_000, 3_000],
  ])
    t.ok(isFound(redisMs, clickhouseMs), `${redisMs} ${clickhouseMs}`)
})
