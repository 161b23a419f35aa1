import { createServer, type RequestListener } from 'node:http'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { kill } from 'node:process'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { deviceFields } from '@intake/contract'
import { lowest } from '@intake/test-kit/lowest'
import { resolveToLoopback } from '@intake/test-kit/resolve-to-loopback'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { until } from '@intake/test-kit/until'
import { createClickHouse, describeError, explainFailure } from '../src/index.ts'
import { failureOf, feedbackRow, logRow, member, startServer } from '../../schema/test/fixture.ts'

const { server, connect } = await startServer(t)
const clickhouse = connect(t)

/** Inserts rows into the logs; the other rows are further members of the same body. */
const insertLogs = (rows: object[], ...others: object[][]) =>
  clickhouse.insertRows({
    table: 'logs',
    members: [rows, ...others].map(member),
    rows: [rows, ...others].flat().length,
  })

const countOf = async (table: string, ids: readonly string[]) => {
  const [row] = await clickhouse.query<{ n: number }>(
    `SELECT count() AS n FROM intake.${table} WHERE id IN ({ids:Array(UUID)})`,
    { ids },
  )
  return row?.n
}

const listen = async (t: Test, listener: RequestListener, requestTimeoutMs = 60_000) => {
  const fake = createServer(listener).listen(0, '127.0.0.1')
  t.teardown(() => fake.close())
  await once(fake, 'listening')
  const { port } = fake.address() as AddressInfo
  const client = createClickHouse({ url: `http://127.0.0.1:${port}`, requestTimeoutMs })
  t.teardown(() => client.close())
  return client
}

t.test('concatenated gzip members are one insert', async (t) => {
  const rows = [logRow(), logRow(), logRow()]
  await insertLogs(rows.slice(0, 1), rows.slice(1))
  const ids = rows.map(({ id }) => id)
  t.equal(await countOf('logs', ids), 3)
  const parts = await clickhouse.query(
    'SELECT uniqExact(_part) AS n FROM intake.logs_raw WHERE id IN ({ids:Array(UUID)})',
    { ids },
  )
  t.match(parts, [{ n: 1 }])
})

t.test('a field that the schema does not know is not treated as an error of the row', async (t) => {
  const insert = (fields: object) => failureOf(insertLogs([logRow(fields)]))
  t.match(await insert({ column_of_tomorrow: 1 }), { kind: 'operator', code: 117 })
  const known = deviceFields.map(({ name, kind }) => [name, kind === 'texts' ? [] : null])
  const device = { ...Object.fromEntries(known), field_of_tomorrow: 1 }
  t.match(await insert({ device }), { kind: 'operator', code: 117 })
  const text = 'Code: 117. DB::Exception: Unknown field found'
  t.match(await insert({ device: { os: [text] } }), { kind: 'rejected' })
})

t.test('a column with a default has it when a row lacks the value', async (t) => {
  const rows = [logRow(), logRow({ sample_rate: null }), logRow({ sample_rate: 0.25 })]
  await insertLogs(rows)
  const ids = rows.map(({ id }) => id)
  const sql = `SELECT sample_rate, ver = 10000000000000 - toUnixTimestamp64Milli(received_at) AS v
    FROM intake.logs_raw WHERE id IN ({ids:Array(UUID)}) ORDER BY indexOf({ids:Array(UUID)}, id)`
  t.same(await clickhouse.query(sql, { ids }), [
    { sample_rate: 1, v: 1 },
    { sample_rate: 1, v: 1 },
    { sample_rate: 0.25, v: 1 },
  ])
})

t.test('an insert is stored as one part or not at all, even if it has many rows', async (t) => {
  // ClickHouse reads blocks of at most 65,409 rows.
  const fields = { request_id: randomUUID(), device_uuid: randomUUID() }
  const good = Array.from({ length: 70_000 }, () => logRow(fields))
  const insert = insertLogs(good, [logRow({ ...fields, event: 5 })])
  t.match(await failureOf(insert), { kind: 'rejected' })
  const stored = () =>
    clickhouse.query(
      `SELECT count() AS rows, uniqExact(_part) AS parts FROM intake.logs_raw
       WHERE request_id = {request_id:UUID}`,
      fields,
    )
  t.same(await stored(), [{ rows: 0, parts: 0 }])
  await insertLogs(good)
  t.same(await stored(), [{ rows: 70_000, parts: 1 }])
})

t.test('a redelivered row is twice in the raw table and once in the view', async (t) => {
  await clickhouse.command('SYSTEM STOP MERGES intake.feedback_raw')
  const row = feedbackRow()
  for (const _ of [1, 2]) {
    await clickhouse.insertRows({ table: 'feedback', members: [member([row])], rows: 1 })
  }
  t.equal(await countOf('feedback_raw', [row.id]), 2)
  t.equal(await countOf('feedback', [row.id]), 1)
  await clickhouse.command('SYSTEM START MERGES intake.feedback_raw')
  await clickhouse.command('OPTIMIZE TABLE intake.feedback_raw FINAL')
  t.equal(await countOf('feedback_raw', [row.id]), 1)
})

t.test('a tombstone hides its row, also after a redelivery', async (t) => {
  const row = logRow()
  await insertLogs([row])
  await clickhouse.command(
    `INSERT INTO intake.logs_raw (id, time, bundle_identifier, device_uuid, ver, is_deleted)
     SELECT id, time, bundle_identifier, device_uuid, 18446744073709551615, 1
     FROM intake.logs WHERE id = {id:UUID}`,
    { id: row.id },
  )
  t.equal(await countOf('logs', [row.id]), 0)
  await insertLogs([row])
  t.equal(await countOf('logs', [row.id]), 0)
})

t.test('the view shows the version of a record that was accepted first', async (t) => {
  for (const inserts of [1, 3]) {
    const first = logRow({ event: 'first', received_at: '2026-11-21T03:00:02.000Z' })
    const later = { ...first, event: 'later', received_at: '2026-11-24T03:00:02.000Z' }
    const rows = [later, first, later]
    if (inserts === 1) await insertLogs(rows)
    else for (const row of rows) await insertLogs([row])
    const shown = () =>
      clickhouse.query('SELECT event FROM intake.logs WHERE id = {id:UUID}', { id: first.id })
    t.same(await shown(), [{ event: 'first' }], `${inserts} inserts`)
    await clickhouse.command('OPTIMIZE TABLE intake.logs_raw FINAL')
    t.same(await shown(), [{ event: 'first' }], `${inserts} inserts, merged`)
    t.equal(await countOf('logs_raw', [first.id]), 1)
  }
})

t.test('the same id from two devices or two applications is two records', async (t) => {
  const row = logRow()
  await insertLogs([
    row,
    { ...row, device_uuid: logRow().device_uuid },
    { ...row, bundle_identifier: 'com.example.other' },
  ])
  t.equal(await countOf('logs', [row.id]), 3)
})

t.test('rejected: a time that differs from the time in the id, or no application', async (t) => {
  const bads = [
    { time: '2026-11-21T03:00:00.124Z' },
    { id: '6f9619ff-8b86-4d01-b42d-00c04fc964ff' },
    { bundle_identifier: '' },
  ]
  for (const bad of bads) {
    t.match(await failureOf(insertLogs([logRow(bad)])), { kind: 'rejected', code: 469 })
  }
})

t.test('split: the number of written rows differs from that of the caller', async (t) => {
  for (const rows of [1, 3]) {
    const insert = { table: 'logs', members: [member([logRow(), logRow()])], rows } as const
    const error = await failureOf(clickhouse.insertRows(insert))
    t.match(error, { kind: 'split', code: undefined })
  }
})

t.test('rejected: one bad row causes the rejection of all rows', async (t) => {
  const good = logRow({ params: { pad: 'x'.repeat(1000) } })
  const rows = Array.from({ length: 20_000 }, () => good)
  const bads = [
    { ...logRow(), id: 'no uuid' },
    { ...logRow(), id: undefined },
    { ...logRow(), event: 5 },
    { ...logRow(), event: '\ud83d' },
    { ...logRow(), params: { n: 2 ** 64 } },
    { ...logRow(), device: { is_emulator: 'yes' } },
    { ...logRow(), device: { supported_abis: 'x86' } },
    { ...logRow(), device: { build_time: '2026-02-30T00:00:00.000Z' } },
  ]
  for (const bad of bads) {
    t.match(await failureOf(insertLogs(rows, [bad])), { kind: 'rejected' }, JSON.stringify(bad))
  }
  t.equal(await countOf('logs', [good.id]), 0)
})

t.test('rejected: truncated or damaged gzip', async (t) => {
  const whole = member([logRow()])
  const damaged = Buffer.from(whole)
  damaged.writeUInt8(damaged.readUInt8(40) ^ 0xff, 40)
  for (const members of [[whole.subarray(0, -9)], [damaged], [whole, Buffer.from('more')]]) {
    const error = await failureOf(clickhouse.insertRows({ table: 'logs', members, rows: 1 }))
    t.match(error, { kind: 'rejected', code: 354 })
  }
})

/** Members of zstd with one and two rows, compressed by Node 26. */
const zstdMembers = [
  'KLUv/SCIhQMA4gcaHGCLc9h9xpV1/7kthgGjdBhAsf1pRMzrBoOQxDmAh9m6jSCrn9vFOpm9RANZJ3oWY5EHOliN2Na055Y1wzrMKRgnFxKVyK+/JiekwkxU1JXV+7Tn5Dz+F+D/BZlmYXApgbUGeatZsyMBANjAEw==',
  'KLUv/WAQAL0DAPJHGhxga3XYfSuWPXWBmShQBFBBQOnvj23CWohBSOIcDPCwW7iPY3WEu1gju5hopGWepjE2Nc7BasS+5UW47hmWcVChGLnAlkq//spOUCuVSmR9Wb3Ni0Zez/+C/J+ksiRKNiTQ2kDdavfsCAMACpN4FwYabIAM',
].map((base64) => Buffer.from(base64, 'base64'))

t.test('concatenated zstd members are one insert', async (t) => {
  const members = zstdMembers
  await clickhouse.insertRows({ table: 'logs', coding: 'zstd', members, rows: 3 })
  t.same(
    await clickhouse.query(
      `SELECT count() AS rows, uniqExact(_part) AS parts FROM intake.logs_raw
       WHERE bundle_identifier = 'com.example.zstd'`,
    ),
    [{ rows: 3, parts: 1 }],
  )
})

t.test('damaged zstd and another coding are rejected, truncated zstd is noticed', async (t) => {
  const [first, second] = zstdMembers as [Buffer, Buffer]
  const damaged = Buffer.from(second)
  damaged.writeUInt8(damaged.readUInt8(9) ^ 0xff, 9)
  const insert = (rows: number, ...members: Buffer[]) =>
    failureOf(clickhouse.insertRows({ table: 'logs', coding: 'zstd', members, rows }))
  t.match(await insert(2, damaged), { kind: 'rejected', code: 561 })
  t.match(await insert(1, first, Buffer.from('more')), { kind: 'rejected', code: 561 })
  t.match(await insert(1, member([logRow()])), { kind: 'rejected', code: 561 })
  // ClickHouse takes the whole members and ignores the rest.
  t.match(await insert(3, first, second.subarray(0, -9)), { kind: 'split', code: undefined })
})

t.test('operator: a column or table is missing', async (t) => {
  const insert = (row: object) => failureOf(insertLogs([row]))
  t.match(await insert(logRow({ device: { newer: 1 } })), { kind: 'operator', code: 10 })

  await clickhouse.command('ALTER TABLE intake.logs_raw RENAME COLUMN event TO elsewhere')
  t.match(await insert(logRow()), { kind: 'operator', code: 16 })
  await clickhouse.command('ALTER TABLE intake.logs_raw RENAME COLUMN elsewhere TO event')

  await clickhouse.command('RENAME TABLE intake.logs_raw TO intake.elsewhere')
  t.match(await insert(logRow()), { kind: 'operator', code: 60 })
  await clickhouse.command('RENAME TABLE intake.elsewhere TO intake.logs_raw')
})

t.test('operator: wrong credentials', async (t) => {
  const url = new URL(server.url)
  url.password = 'wrong'
  const stranger = connect(t, { url: url.href })
  t.match(await failureOf(stranger.ping()), { kind: 'operator', code: 516 })
})

t.test('retry: too many parts', async (t) => {
  await clickhouse.command('SYSTEM STOP MERGES intake.feedback_raw')
  await clickhouse.command('ALTER TABLE intake.feedback_raw MODIFY SETTING parts_to_throw_insert=1')
  const insert = () => {
    const members = [member([feedbackRow()])]
    return clickhouse.insertRows({ table: 'feedback', members, rows: 1 })
  }
  await insert().catch(() => {})
  t.match(await failureOf(insert()), { kind: 'retry', code: 252 })
  await clickhouse.command('ALTER TABLE intake.feedback_raw RESET SETTING parts_to_throw_insert')
  await clickhouse.command('SYSTEM START MERGES intake.feedback_raw')
})

t.test('an error reveals row contents only in serverText', async (t) => {
  const error = await failureOf(insertLogs([logRow({ id: 'secret-of-the-user' })]))
  t.equal(error.message, 'ClickHouse responded with 376 (CANNOT_PARSE_UUID)')
  t.notMatch(JSON.stringify(error) + String(error.stack), 'secret-of-the-user')
  t.match(error.serverText, /^Code: 376/)
})

t.test('split: no response in time; a repeated insert is stored once', async (t) => {
  const hurried = connect(t, { requestTimeoutMs: 300 })
  const row = logRow()
  const insert = { table: 'logs', members: [member([row])], rows: 1 } as const
  const elapsedMs = await lowest(2_000, async () => {
    kill(server.pid, 'SIGSTOP')
    const stopwatch = startStopwatch(t)
    const error = await failureOf(hurried.insertRows(insert)).finally(() => {
      kill(server.pid, 'SIGCONT')
    })
    t.match(error, { kind: 'split', message: 'No response from ClickHouse within 300 ms' })
    return stopwatch()
  })
  t.ok(elapsedMs < 2_000)
  await clickhouse.insertRows(insert)
  t.equal(await countOf('logs', [row.id]), 1)
})

t.test('split: the response begins and then stalls', async (t) => {
  const client = await listen(t, (_, res) => res.write('1'), 100)
  const error = await failureOf(client.query('SELECT 1'))
  t.match(error, { kind: 'split', message: 'No response from ClickHouse within 100 ms' })
})

t.test('retry: the caller aborts, before or while it waits', async (t) => {
  kill(server.pid, 'SIGSTOP')
  const stop = new AbortController()
  const insert = { table: 'logs', members: [member([logRow()])], rows: 1 } as const
  const failure = failureOf(clickhouse.insertRows({ ...insert, signal: stop.signal }))
  stop.abort()
  const expected = { kind: 'retry', message: 'The request to ClickHouse was given up' }
  t.match(await failure, expected)
  t.match(
    await failureOf(clickhouse.insertRows({ ...insert, signal: AbortSignal.abort() })),
    expected,
  )
  for (const read of [clickhouse.query, clickhouse.lines]) {
    const reading = new AbortController()
    const abandoned = failureOf(read('SELECT 1', {}, { signal: reading.signal }))
    reading.abort()
    t.match(await abandoned, expected)
  }
  kill(server.pid, 'SIGCONT')
})

t.test('another URL is proposed for what is no ClickHouse, not for a silent one', async (t) => {
  const explain = async (respond: RequestListener, requestTimeoutMs?: number) => {
    const client = await listen(t, respond, requestTimeoutMs)
    return explainFailure(await failureOf(client.query('SELECT 1')))
  }
  const silent = await explain(() => {}, 100)
  t.equal(silent, 'No response from ClickHouse within 100 ms')
  const other = await explain((_, res) => res.writeHead(404).end('Not found'))
  t.match(other, /status 404 .*: start ClickHouse, or correct CLICKHOUSE_URL$/)
})

t.test(
  'a host with several addresses, none of which listens, is named with its code',
  async (t) => {
    resolveToLoopback(t, ['127.0.0.1', '127.0.0.2'])
    const nobody = createClickHouse({ url: 'http://intake:x@clickhouse.test:1' })
    const failure = await failureOf(nobody.query('SELECT 1'))
    t.equal(describeError(failure), 'The connection to ClickHouse failed: ECONNREFUSED')
  },
)

t.test('retry: no server', async (t) => {
  const nobody = createClickHouse({ url: 'http://intake:x@127.0.0.1:1' })
  const members = [member([logRow()])]
  t.match(await failureOf(nobody.insertRows({ table: 'logs', members, rows: 1 })), {
    kind: 'retry',
    code: undefined,
  })
  await nobody.close()
})

t.test('retry or split: a response that is not a confirmation', async (t) => {
  const summary = (rows: number) => ({ 'x-clickhouse-summary': `{"written_rows":"${rows}"}` })
  const responses: [string, object, RequestListener][] = [
    [
      '200 with an exception code',
      { kind: 'split', code: 241 },
      (_, res) => res.writeHead(200, { ...summary(1), 'x-clickhouse-exception-code': 241 }).end(),
    ],
    ['200 with too few rows', { kind: 'split' }, (_, res) => res.writeHead(200, summary(0)).end()],
    ['200 without a summary', { kind: 'split' }, (_, res) => res.end()],
    [
      'an unknown code',
      { kind: 'split', code: 9999 },
      (_, res) =>
        res.writeHead(500, { 'x-clickhouse-exception-code': 9999 }).end('Code: 27. DB::Exception'),
    ],
    ['502 of a proxy', {}, (_, res) => res.writeHead(502).end('Code: 27. DB::Exception: x (Y)')],
    ['413 of a proxy', { kind: 'split', code: undefined }, (_, res) => res.writeHead(413).end()],
    ['a reset', {}, (req) => req.socket.resetAndDestroy()],
    [
      'a truncated response',
      {},
      (_, res) =>
        res.writeHead(200, { ...summary(1), 'content-length': 9 }).write('1', () => res.destroy()),
    ],
  ]
  for (const [name, expected, respond] of responses) {
    const client = await listen(t, (req, res) => {
      req.resume().on('end', () => respond(req, res))
    })
    const members = [gzipSync('{}\n')]
    const error = await failureOf(client.insertRows({ table: 'logs', members, rows: 1 }))
    t.match(error, { kind: 'retry', ...expected }, name)
  }
})

t.test('an insert that times out is killed, so that it uses no memory', async (t) => {
  await insertLogs([logRow()])
  // Makes an insert take longer than its timeout, even on a fast machine.
  await clickhouse.command(
    `ALTER TABLE intake.logs_raw MODIFY SETTING
       parts_to_delay_insert = 1, min_delay_to_insert_ms = 5000, max_delay_to_insert = 5`,
  )
  const impatient = connect(t, { requestTimeoutMs: 1_500 })
  const rows = 1_000
  const members = [member(Array.from({ length: rows }, () => logRow({ event: 'late' })))]
  const failure = await failureOf(impatient.insertRows({ table: 'logs', members, rows }))
  t.match(failure, { kind: 'split', code: undefined })
  await until('it runs no more', async () => {
    const running = await clickhouse.query(
      "SELECT query_id FROM system.processes WHERE query LIKE 'INSERT INTO intake.logs_raw%'",
    )
    return running.length === 0
  })
  const [stored] = await clickhouse.query<{ n: number }>(
    "SELECT count() AS n FROM intake.logs_raw WHERE event = 'late'",
  )
  t.equal(stored?.n, 0)
})
