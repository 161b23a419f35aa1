import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import {
  countPayloads,
  createClickHouse,
  dropMonths,
  findRecords,
  inspectClickHouse,
  listExpiredMonths,
  migrate,
  startDeletion,
  watchDeletion,
  writeTombstones,
  type ClickHouseError,
} from '@intake/clickhouse'
import { until } from '@intake/test-kit/until'
import { logRow, member, uuidV7 } from '../../packages/clickhouse/test/fixture.ts'
import { cluster, startCluster } from './cluster.ts'

const servers = await startCluster(t, { servers: 3, shards: 2 })
const urls = servers.map(({ url }) => url)
const connect = (url: string) => {
  const clickhouse = createClickHouse({ url, cluster, requestTimeoutMs: 60_000 })
  t.teardown(() => clickhouse.close())
  return clickhouse
}
const [first, second, third] = [connect(urls[0]!), connect(urls[1]!), connect(urls[2]!)]

const time = '2026-11-21T03:00:00.123Z'
const rowsOf = (count: number, fields: object = {}) =>
  Array.from({ length: count }, () =>
    logRow({ id: uuidV7(time), device_uuid: randomUUID(), ...fields }),
  )
const insert = (clickhouse: typeof first, rows: object[]) =>
  clickhouse.insertGzip({ table: 'logs', members: [member(rows)], rows: rows.length })
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
  t.equal((await findRecords(second, { id: request })).length, 50)
})

t.test('no row is lost or doubled when a server is killed while inserts run', async (t) => {
  const before = await count(first, 'logs')
  const either = connect(urls.slice(0, 2).join(','))
  const frames = Array.from({ length: 40 }, () => rowsOf(100))
  const kinds = new Set<string>()
  let failures = 0
  const storing = frames.map(async (rows) => {
    for (;;) {
      const failure = await insert(either, rows).then(
        () => undefined,
        (error: ClickHouseError) => error,
      )
      if (failure === undefined) return
      failures++
      kinds.add(failure.kind)
      await pause(1_000)
    }
  })
  await until('some are stored', async () => (await count(second, 'logs_local')) > 0)
  await servers[0]!.kill()
  await until('inserts fail, because a shard is away', () => failures > 0)
  await servers[0]!.start(2)
  await Promise.all(storing)
  t.notOk(kinds.has('rejected') || kinds.has('operator'), 'each failure is repeated')
  t.equal(await count(second, 'logs'), before + 4_000)
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
  t.match(await writeTombstones(first, user), { logs: 300 })
  t.equal(await count(second, 'logs', `unique_user_id = '${user.id}'`), 0)
  t.equal(await startDeletion(first, user), 600)
  const look = watchDeletion(second)
  await until('the payloads are deleted', async () => {
    const { partsToRewrite, failure } = await look()
    t.equal(failure, '')
    return partsToRewrite === 0
  })
  t.equal(await count(second, 'logs_raw', `unique_user_id = '${user.id}'`), 0)
  t.equal(await countPayloads(second, user), 0)
  await insert(second, rows)
  t.equal(await count(first, 'logs', `unique_user_id = '${user.id}'`), 0, 'a repeat stays hidden')
  t.equal(await count(first, 'logs'), others)
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

t.test(
  'a shard that is added gets rows from a stated time on; a repeat stays beside its first',
  async (t) => {
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(servers.map((server) => server.start(3)))
    const before = await count(first, 'logs_raw_local')
    await migrate({ clickhouse: first })
    t.match(await inspectClickHouse(first), {
      schemaDifferences: [/^1 shards of the cluster get no records/],
    })
    await t.rejects(migrate({ clickhouse: first, newShardsFrom: new Date() }), {
      name: 'MigrationError',
    })

    const from = new Date(Date.now() + 3_600_000)
    const at = (ms: number) => new Date(from.getTime() + ms).toISOString()
    const rowsAt = (time: string) =>
      Array.from({ length: 300 }, () => logRow({ id: uuidV7(time), time }))
    const [early, late] = [rowsAt(at(-1)), rowsAt(at(0))]
    await insert(first, early)
    await migrate({ clickhouse: first, newShardsFrom: from })
    t.same((await inspectClickHouse(second)).schemaDifferences, [])
    t.same(await migrate({ clickhouse: third, newShardsFrom: from }), { applied: [] })
    for (const rows of [early, late, late]) await insert(third, rows)

    const those = `time >= toDateTime64('${at(-1).slice(0, -1)}', 3, 'UTC')`
    t.equal(await count(second, 'logs', those), 600)
    t.equal(
      await count(third, 'logs_local', `time = toDateTime64('${at(-1).slice(0, -1)}', 3, 'UTC')`),
      0,
    )
    t.ok((await count(third, 'logs_local', those)) > 50, 'about a third of the late ones')
    t.ok((await count(first, 'logs_raw_local')) > before)
  },
)
