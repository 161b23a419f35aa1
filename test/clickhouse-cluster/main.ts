import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import {
  countPayloads,
  dropMonths,
  findInTables,
  listExpiredMonths,
  startDeletion,
  untilDeleted,
  writeTombstones,
} from '@intake/records'
import { type ClickHouseError } from '@intake/clickhouse'
import { inspectClickHouse, migrate, repairViews } from '@intake/schema'
import { startRedis, startS3 } from '@intake/local'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { enqueueLogs } from '@intake/test-kit/enqueue'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openRedis } from '@intake/test-kit/open-redis'
import { until } from '@intake/test-kit/until'
import { countOutdated, replaceCounts } from '../../packages/records/src/counts/replace-counts.ts'
import { logRow, member, uuidV7 } from '../../packages/schema/test/fixture.ts'
import { limitedUsers, testAddedServer, testAnalysts, testAttacks } from './analysts.ts'
import { cluster, startCluster } from './cluster.ts'
import { testSameAnswers } from './same-answers.ts'

const run = promisify(execFile)
const cli = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url))
const servers = await startCluster(t, { servers: 3, shards: 2, users: limitedUsers })
const urls = servers.map(({ url }) => url)
const connect = (url: string) => openClickHouse(t, { url, cluster, requestTimeoutMs: 60_000 })
const [first, second, third] = [connect(urls[0]!), connect(urls[1]!), connect(urls[2]!)]

const time = '2026-11-21T03:00:00.123Z'
const rowsOf = (count: number, fields: object = {}) =>
  Array.from({ length: count }, () =>
    logRow({ id: uuidV7(time), device_uuid: randomUUID(), ...fields }),
  )
const insert = (clickhouse: typeof first, rows: object[]) =>
  clickhouse.insertRows({ table: 'logs', members: [member(rows)], rows: rows.length })
const count = async (clickhouse: typeof first, table: string, where = '1'): Promise<number> => {
  const [row] = await clickhouse.query<{ n: number }>(
    `SELECT count() AS n FROM intake.${table} WHERE ${where}`,
  )
  return row!.n
}

t.test('migrations make the tables on every server, and only once', async (t) => {
  t.ok((await migrate({ clickhouse: first })).applied.includes('definitions'))
  t.same(await migrate({ clickhouse: second }), { applied: [] })
  const facts = await inspectClickHouse(second)
  t.same(facts.schemaDifferences, [])
  t.same(facts.settingViolations, [])
})

t.test(
  'rows are spread over the shards, and a repeat through another server is hidden',
  async (t) => {
    const rows = rowsOf(2_000)
    await insert(first, rows)
    await insert(second, rows)
    await insert(second, rows.slice(500, 900))
    for (const clickhouse of [first, second]) t.equal(await count(clickhouse, 'logs'), 2_000)
    t.equal(await count(first, 'logs_raw'), 4_400)
    for (const clickhouse of [first, second]) {
      t.ok((await count(clickhouse, 'logs_local')) > 800, 'each has about half')
    }
  },
)

t.test('views and lookups see all shards', async (t) => {
  const device = randomUUID()
  const request = randomUUID()
  await insert(first, rowsOf(50, { device_uuid: device, request_id: request, params: { n: 7 } }))
  t.equal(await count(second, 'devices', `device_uuid = '${device}'`), 1)
  t.equal(await count(second, 'logs_flat', `device_uuid = '${device}'`), 50)
  t.equal(
    await count(
      first,
      'logs',
      `intake_number(params.n) = 7 AND id IN (SELECT id FROM intake.logs)`,
    ),
    50,
  )
  t.equal((await findInTables(second, { id: request })).length, 50)
})

t.test('the queries of analysts and the page get the answers of a single server', (t) =>
  testSameAnswers(t, second),
)

t.test('analysts see what they may see, on every server', (t) =>
  testAnalysts(t, { owner: second, urls: urls.slice(0, 2) }),
)

t.test('no row is lost or doubled when a server is killed while inserts run', async (t) => {
  const before = await count(first, 'logs')
  const either = connect(urls.slice(0, 2).join(','))
  const kinds = new Set<string>()
  let stored = 0
  let failures = 0
  const ending = new AbortController()
  const write = async () => {
    while (!ending.signal.aborted) {
      const rows = rowsOf(100)
      await until('the rows are stored', () => insertOnce(rows), { everyMs: 1_000 })
      stored += rows.length
    }
  }
  const insertOnce = (rows: object[]) =>
    insert(either, rows).then(
      () => true,
      (error: ClickHouseError) => {
        kinds.add(error.kind)
        failures++
        return false
      },
    )
  const written = Promise.all(Array.from({ length: 4 }, write))
  const disturb = async () => {
    await until('some are stored', () => stored >= 1_000)
    await servers[0]!.kill()
    await until('inserts fail, because a shard is away', () => failures > 4)
    await servers[0]!.start(2)
  }
  await Promise.all([written, disturb().finally(() => ending.abort())])
  t.notOk(kinds.has('rejected') || kinds.has('operator'), 'each failure is repeated')
  // Retries the count, because the second server may abort only now (see `startCluster`).
  const found = await until('both servers respond', () => count(second, 'logs'))
  t.equal(found, before + stored)
})

t.test('the commands and a worker find the cluster by their settings', async (t) => {
  const dataDir = createDataDir(t)
  const [redis, s3] = await Promise.all([
    startRedis({ dataDir: join(dataDir, 'redis'), port: 0 }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
  ])
  t.teardown(() => Promise.all([redis.stop(), s3.stop()]))
  const env = {
    REDIS_URL: redis.url,
    S3_ENDPOINT: s3.url,
    CLICKHOUSE_URL: urls.slice(0, 2).join(','),
    CLICKHOUSE_CLUSTER: cluster,
  }
  const intake = (...args: string[]) =>
    run(process.execPath, [cli, ...args], { env: { ...process.env, ...env } })
  t.match((await intake('setup')).stdout, 'Intake is set up.')
  const doctor = await intake('doctor').catch((error: { stdout: string }) => error)
  t.notMatch(doctor.stdout, /clickhouse_schema|clickhouse_settings/)
  t.equal((await intake('dead-letters', 'list')).stdout, '', 'there are no dead letters')
  const created = await intake('analysts', 'create', 'one', '--bundle', 'com.example.one')
  t.match(created.stderr, /An administrator runs the SQL that intake analysts show one prints/)
  t.match(
    (await intake('analysts', 'show', 'one')).stdout,
    /CREATE ROW POLICY .* ON CLUSTER 'fleet' ON intake\.logs_raw_local FOR/,
  )
  await intake('analysts', 'remove', 'one')

  const connection = openRedis(t, redis, 'producer')
  const device = randomUUID()
  const frameOf = () => rowsOf(50, { device_uuid: device }).map((row) => JSON.stringify(row))
  await enqueueLogs(connection, Array.from({ length: 20 }, frameOf))
  const worker = await startApp(t, 'worker', { dataDir, env })
  await until('the worker has stored all', async () => {
    return (await count(first, 'logs', `device_uuid = '${device}'`)) === 1_000
  })
  t.equal(await count(second, 'logs_raw', `device_uuid = '${device}'`), 1_000, 'each once')
  t.equal(await worker.terminate(), 0)
})

t.test('an endpoint that is away is left out', async (t) => {
  const either = connect(`http://intake:secret@127.0.0.1:1,${urls[1]}`)
  t.equal(await count(either, 'logs'), await count(first, 'logs'))
})

t.test('erasing a user removes every version on every shard', async (t) => {
  const user = { kind: 'user', id: randomUUID() } as const
  const rows = rowsOf(300, { unique_user_id: user.id })
  await insert(first, rows)
  await insert(second, rows)
  const others = await count(first, 'logs', `unique_user_id != '${user.id}'`)
  t.match(await writeTombstones(first, user, new Date(0)), { logs: 300 })
  t.equal(await count(second, 'logs', `unique_user_id = '${user.id}'`), 0)
  // The table has at most 600 rows of this user: 300 rows were inserted twice, and merges may have
  // removed some.
  const wait = {
    deadline: performance.now() + 120_000,
    progress: (sentence: string) =>
      t.match(sentence, /^\d+ parts? to rewrite$/, 'without a failure'),
  }
  t.ok((await startDeletion(first, wait, { subject: user })) <= 600)
  await untilDeleted(second, { ...wait, leavesReplacedParts: true })
  t.equal(await count(second, 'logs_raw', `unique_user_id = '${user.id}'`), 0)
  t.equal(await countPayloads(second, { subject: user }), 0)
  await insert(second, rows)
  t.equal(await count(first, 'logs', `unique_user_id = '${user.id}'`), 0, 'a repeat remains hidden')
  t.equal(await count(first, 'logs'), others)
})

t.test('an erasure waits until no replica has a former count', async (t) => {
  const bundle_identifier = `app.${randomUUID()}`
  const hour = `${time.slice(0, 13)}:00:00`
  // In this cluster no server copies the counts of another, so this one has a former count for ever.
  await second.insertRows({
    table: 'hours',
    members: [member([{ bundle_identifier, hour, ver: 1 }])],
    rows: 1,
  })
  await insert(first, rowsOf(1, { bundle_identifier }))
  const mark = { bundle_identifier, hour, asked_at: new Date().toISOString() }
  for (const server of [first, second])
    await server.insertRows({ table: 'recounts', members: [member([mark])], rows: 1 })
  t.equal(await countOutdated(first), 1, 'the other server has it')

  const sent: string[] = []
  const command: typeof first.command = async (sql) => {
    sent.push(sql)
    await first.command(sql)
  }
  // So that only OPTIMIZE merges.
  const background = 'max_bytes_to_merge_at_max_space_in_pool'
  await first.command(`ALTER TABLE intake.hours_raw MODIFY SETTING ${background} = 1`)
  await first.insertRows({
    table: 'hours',
    members: [member([{ bundle_identifier, hour, ver: 1 }])],
    rows: 1,
  })
  await replaceCounts({ ...first, command }, (reason) => t.fail(reason))
  t.match(sent, [
    /^SYSTEM SYNC REPLICA .* intake\.logs_raw_local$/,
    /^SYSTEM SYNC REPLICA .* intake\.recounts_raw$/,
    /^SYSTEM SYNC REPLICA .* intake\.hours_raw$/,
    /^SYSTEM SYNC REPLICA .* intake\.days_raw$/,
    /^OPTIMIZE TABLE intake\.hours_raw .* FINAL$/,
    /^SYSTEM SYNC REPLICA .* intake\.hours_raw$/,
    /^SYSTEM SYNC REPLICA .* intake\.days_raw$/,
  ])
  t.equal(await count(first, 'hours_raw', `bundle_identifier = '${bundle_identifier}'`), 1)
  t.equal(await countOutdated(first), 1, 'the other server still has it')
  await replaceCounts(second, (reason) => t.fail(reason))
  t.equal(await countOutdated(first), 0)
  await first.command(`ALTER TABLE intake.hours_raw RESET SETTING ${background}`)
})

t.test('retention drops a month on every shard', async (t) => {
  const old = '2025-03-05T00:00:00.000Z'
  const rows = Array.from({ length: 200 }, () => logRow({ id: uuidV7(old), time: old }))
  await insert(first, rows)
  for (const clickhouse of [first, second]) {
    t.ok((await count(clickhouse, 'logs_local', 'toYYYYMM(time) = 202503')) > 0)
  }
  const months = await listExpiredMonths(second, 'logs', new Date('2025-05-01'))
  t.same(months, ['202503'])
  await dropMonths(second, 'logs', months)
  t.equal(await count(first, 'logs_raw', 'toYYYYMM(time) = 202503'), 0)
})

t.test('a server that was behind when the views were defined is found and repaired', async (t) => {
  const define = async (name: string) => {
    const [table] = await second.query<{ sql: string }>(
      `SELECT create_table_query AS sql FROM system.tables WHERE database = 'intake' AND name = '${name}'`,
    )
    const former = table!.sql
      .replace('CREATE', 'CREATE OR REPLACE')
      .replace('`params` JSON(max_dynamic_paths = 0)', '`params` JSON(max_dynamic_paths = 16)')
    await second.command(former)
  }
  const alter = (paths: number) =>
    second.command(
      `ALTER TABLE intake.logs_raw_local MODIFY COLUMN params JSON(max_dynamic_paths = ${paths})`,
    )
  await alter(16)
  for (const name of ['logs_local', 'logs']) await define(name)
  const isBehind =
    /the column params of intake\.logs_raw_local on \S+:\d+ is JSON\(\S+=16\) instead/
  t.match((await inspectClickHouse(first)).schemaDifferences, [isBehind])
  await t.rejects(migrate({ clickhouse: first, columnsTimeoutMs: 0 }), { message: isBehind })

  await alter(0)
  t.same((await inspectClickHouse(first)).schemaDifferences, [
    'the view intake.logs has columns of other types than its query',
  ])
  t.same(await repairViews(first), ['logs'])
  for (const clickhouse of [first, second]) {
    t.same((await inspectClickHouse(clickhouse)).schemaDifferences, [])
  }
})

t.test(
  'an added shard gets rows from a stated time on; a repeat goes to the shard of its first',
  async (t) => {
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(servers.map((server) => server.start(3)))
    const before = await count(first, 'logs_raw_local')
    const sent: string[] = []
    const command: typeof first.command = async (sql, params) => {
      sent.push(sql)
      await first.command(sql, params)
    }
    await migrate({ clickhouse: { ...first, command } })
    t.match(
      sent.find((sql) => /^CREATE TABLE IF NOT EXISTS intake\.logs_raw_local\b/.test(sql)),
      /`country`[^]*`params` JSON\(max_dynamic_paths = 0\)/,
      'its tables are made as they are now',
    )
    t.match(await inspectClickHouse(first), {
      schemaDifferences: [/^shards of the cluster that get no records: 1;/],
    })
    await t.rejects(migrate({ clickhouse: first, newShardsFrom: new Date() }), {
      name: 'MigrationError',
    })

    const from = new Date(Date.now() + 3_600_000)
    const at = (ms: number) => new Date(from.getTime() + ms).toISOString()
    const rowsAt = (when: string) =>
      Array.from({ length: 300 }, () => logRow({ id: uuidV7(when), time: when }))
    const [early, late] = [rowsAt(at(-1)), rowsAt(at(0))]
    await insert(first, early)
    await migrate({ clickhouse: first, newShardsFrom: from })
    const { schemaDifferences } = await inspectClickHouse(second)
    // Setup defines analysts on the added server, see `testAddedServer`.
    const others = schemaDifferences.filter((one) => !one.startsWith('analyst '))
    t.same(others, [])
    t.same(await migrate({ clickhouse: second, newShardsFrom: from }), { applied: [] })
    for (const rows of [early, late, late]) await insert(third, rows)

    const those = `time >= toDateTime64('${at(-1).slice(0, -1)}', 3, 'UTC')`
    t.equal(await count(second, 'logs', those), 600)
    t.equal(
      await count(third, 'logs_local', `time = toDateTime64('${at(-1).slice(0, -1)}', 3, 'UTC')`),
      0,
    )
    t.ok((await count(third, 'logs_local', those)) > 50, 'about a third of the late ones')
    t.ok((await count(first, 'logs_raw_local')) > before)
    await testAddedServer(t, { owner: first, url: urls[2]! })
  },
)

t.test('no statement shows an analyst more, on any server', (t) =>
  testAttacks(t, { owner: first, urls }),
)
