import { spawnSync } from 'node:child_process'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { findClickHouseProblems, findFullDisk } from '../src/doctor/clickhouse.ts'
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
const atLeastTenth = { freeShareMin: 0.1 }

t.test('nothing is wrong at the limits', async (t) => {
  t.same(findRedisProblems(redis), [])
  t.same(findClickHouseProblems(clickhouse, atLeastTenth), [])
})

t.test('a disk on which less is free than ClickHouse keeps has nothing left', (t) => {
  const full = { name: 'default', freeBytes: -20 * 1024 ** 2, totalBytes: 400 * 1024 ** 2 }
  t.match(findClickHouseProblems({ ...clickhouse, disks: [full] }, atLeastTenth), [
    { code: 'clickhouse_disk', detail: / has 0 .*B of 400 MiB left, less than 10 %/ },
  ])
  t.end()
})

t.test('old versions are found', async (t) => {
  t.match(findRedisProblems({ ...redis, version: '6.2.14' }), [
    { code: 'redis_version', detail: 'Redis has version 6.2.14, and at least 7 is needed.' },
  ])
  for (const version of ['25.8.2.29', '26.2.9.1']) {
    t.match(findClickHouseProblems({ ...clickhouse, version }, atLeastTenth), [
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

t.test('the clock that differs from two others is wrong', async (t) => {
  const ahead = (ms: number) => ({ min: ms - 10, max: ms + 10 })
  const change = (redisMs: number, clickhouseMs: number) =>
    findClockProblems(
      { redis: ahead(redisMs), clickhouse: ahead(clickhouseMs) },
      { skewMaxMs: 5_000 },
    ).map((one) => one.change.replace(/ with NTP.*/, ''))
  t.same(change(0, 0), [])
  t.same(change(5_005, -5_005 + 10_000), [], 'a difference that may be the time of the way')
  t.same(change(60_000, 0), ['Synchronise the clock of Redis'])
  t.same(change(0, -60_000), ['Synchronise the clock of ClickHouse'])
  t.same(change(-60_000, -60_000), ['Synchronise the clock of this machine'])
  t.same(change(-60_000, 60_000), ['Synchronise the clock of each machine'])
})

const noMount = !(process.platform === 'linux' && process.getuid?.() === 0) && 'needs root on Linux'
t.test('the full disk of a silent ClickHouse is named', { skip: noMount }, async (t) => {
  const mount = createDataDir(t)
  t.equal(findFullDisk(mount), undefined, 'this disk has room')
  const options = ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', mount]
  if (spawnSync('mount', options).status !== 0) return t.pass('this container may not mount')
  t.teardown(() => spawnSync('umount', [mount]))
  t.match(findFullDisk(mount), {
    code: 'clickhouse_disk',
    detail: `ClickHouse does not respond, and the disk of ${mount} is full: it has 8 MiB left, and ClickHouse needs 16 MiB to start.`,
  })
})
