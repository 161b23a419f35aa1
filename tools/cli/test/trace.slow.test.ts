import { randomUUID } from 'node:crypto'
import t from 'tap'
import { findReservations, searchOf, traceRecords } from '@intake/records'
import {
  createIdentity,
  defineReserve,
  deriveIdentity,
  parseIdentity,
  createIdempotencyStore,
  createReservationLedger,
} from '@intake/identity'
import { registerShard, shardPrefix } from '@intake/queue'
import { createFrameConsumer, createJobSource } from '@intake/queue/consume'
import { createJobSink } from '@intake/queue/produce'
import { claimInstallation } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openRedis } from '@intake/test-kit/open-redis'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { createIntakeProcess, feedbackRow, logRow, startServices } from './services.ts'

const services = await startServices(t)
const { clickhouse, dataDir, endpoints, enqueue, insert, intake, keys, reject } = services

const trace = (id: string) => traceRecords({ redis: keys, clickhouse }, { id })

async function traceKey(key: string, row: ReturnType<typeof logRow>) {
  const sent = {
    key,
    bundleIdentifier: row.bundle_identifier,
    deviceUuid: row.device_uuid.toUpperCase(),
  }
  const reservations = await findReservations(keys, sent)
  const search = searchOf(sent, reservations)
  return { reservations, ...(await traceRecords({ redis: keys, clickhouse }, search)) }
}

t.test('a record is queued, then in progress, then stored', async (t) => {
  const row = logRow()
  await enqueue([logRow(), row])
  const { id, bundle_identifier, device_uuid, request_id, time, received_at } = row
  const expected = {
    kind: 'logs',
    id,
    bundle_identifier,
    device_uuid,
    request_id,
    time,
    received_at,
  }
  t.same(await trace(id), {
    records: [{ state: 'queued', ...expected }],
    unreadable_frames: 0,
  })

  const onError = (error: Error) => t.fail(error)
  const source = createJobSource({ redis: keys, kind: 'logs', onError })
  const consumer = createFrameConsumer({
    source,
    onError,
    onUnreadable: onError,
    onLocksLost: () => {},
  })
  const batch = await consumer.take({ framesMax: 10, compressedBytesMax: 1e6, jsonBytesMax: 1e6 })
  t.match(await trace(id), { records: [{ state: 'in_progress' }] })
  await insert('logs', [row])
  const stored = { records: [{ state: 'stored', ...expected }] }
  t.match(await trace(id), stored, 'also before its frame is completed')
  await batch?.complete()
  t.match(await trace(id), stored)
  consumer.close()
  await source.close()

  const printed = await intake(['trace', id.toUpperCase(), '--json'])
  t.match(printed, { code: 0 })
  t.same(JSON.parse(printed.stdout), { state: 'stored', ...stored, unreadable_frames: 0 })
})

t.test('a record in another shard of the queue is found', async (t) => {
  await registerShard(keys, 1)
  const row = logRow()
  await enqueue([row], { shard: 1 })
  t.match(await trace(row.id), { records: [{ state: 'queued', id: row.id }] })
  const source = createJobSource({ redis: keys, kind: 'logs', shard: 1, onError: t.fail })
  t.teardown(() => source.close())
  const job = await source.claim()
  t.match(await trace(row.id), { records: [{ state: 'in_progress', id: row.id }] })
  await source.complete(job!, { claimNext: false })
})

t.test('records are found by their request, also by that of a repeat', async (t) => {
  const request_id = randomUUID()
  const [one, other] = [logRow({ request_id }), logRow({ request_id })]
  const repeat = { ...one, request_id: randomUUID(), received_at: '2026-11-21T05:00:00.000Z' }
  await insert('logs', [one])
  await insert('logs', [repeat])
  await enqueue([other])
  const { records } = await trace(request_id)
  const states = records.map(({ id, state }) => `${id} ${state}`).toSorted()
  t.same(states, [`${one.id} stored`, `${other.id} queued`].toSorted())
  t.match(await trace(repeat.request_id), {
    records: [{ state: 'stored', id: one.id, request_id, received_at: one.received_at }],
  })
})

t.test('a dead letter is found by its id and request, with exit code 2', async (t) => {
  const row = feedbackRow({ device: 'bad' })
  await reject(row, { table: 'feedback' })
  const expected = {
    records: [
      {
        state: 'dead_lettered',
        kind: 'feedback',
        id: row.id,
        request_id: row.request_id,
        time: row.time,
        error_code: 27,
      },
    ],
  }
  t.match(await trace(row.id), expected)
  t.match(await trace(row.request_id), expected)
  const { stdout, code } = await intake(['trace', row.id])
  t.equal(code, 2)
  t.match(stdout, `dead_lettered\tfeedback\t${row.id}\t`)
})

t.test('feedback is found by the id that the client gave it', async (t) => {
  const [stored, queued] = [randomUUID(), randomUUID()]
  await insert('feedback', [feedbackRow({ feedback_id: stored })])
  await enqueue([feedbackRow({ feedback_id: queued })], { kind: 'feedback' })
  t.match(await trace(stored), { records: [{ state: 'stored', kind: 'feedback' }] })
  t.match(await trace(queued), { records: [{ state: 'queued', kind: 'feedback' }] })
})

t.test('an erased record is erased', async (t) => {
  const row = logRow({ unique_user_id: 'to be erased' })
  await insert('logs', [row])
  t.match(await intake(['user', 'erase', 'to be erased', '--yes']), { code: 0 })
  const { kind, id, bundle_identifier, device_uuid, time } = { kind: 'logs', ...row }
  t.same((await trace(id)).records, [
    { state: 'erased', kind, id, bundle_identifier, device_uuid, time },
  ])
  const { stdout, stderr } = await intake(['trace', id])
  t.equal(stdout, `erased\tlogs\t${id}\t${bundle_identifier} ${device_uuid}\n`)
  t.match(stderr, 'intake erasures list')
})

t.test('without ClickHouse it says what Redis holds', async (t) => {
  const away = { CLICKHOUSE_URL: 'http://u:p@127.0.0.1:1', S3_ENDPOINT: '' }
  const row = logRow()
  await enqueue([row])
  const found = await intake(['trace', row.id, '--json'], away)
  t.equal(found.code, 0)
  t.match(JSON.parse(found.stdout), {
    state: 'queued',
    records: [{ id: row.id }],
    tables_unread: /ECONNREFUSED/,
  })
  const other = await intake(['trace', randomUUID()], away)
  t.match(other, { code: 1, stdout: '', stderr: /^Not in Redis, and ClickHouse cannot be asked\./ })
})

t.test('what is nowhere is unknown, with exit code 3', async (t) => {
  t.same((await trace(createIdentity(Date.now()).id)).records, [])
  const { bundle_identifier: bundle, device_uuid: device } = logRow()
  const outcome = await intake(['trace', '--key', 'k', '--bundle', bundle, '--device', device])
  t.match(outcome, {
    code: 3,
    stdout: 'unknown\n',
    stderr: /^No record with this id or key was acknowledged/,
  })
})

t.test('records are found by the key that the client sent', async (t) => {
  const ledger = createReservationLedger({
    redis: keys,
    memoryBytes: () => 512 * 1024 ** 2,
    shares: { logs: 0.1, feedback: 0.1 },
    onError: (error) => t.fail(String(error)),
  })
  t.teardown(() => ledger.close())
  await ledger.refresh()
  const store = createIdempotencyStore({ reserve: defineReserve(keys), ledger })
  const reserve = (scope: 'logs' | 'feedback' | 'batches', key: string, row: { id: string }) => {
    const { bundle_identifier: bundleIdentifier, device_uuid: deviceUuid } = sender
    const about = { apiKeyId: 'key', bundleIdentifier, deviceUuid, fingerprint: '0123456789ab' }
    return store.reserve({ ...about, scope, key, id: row.id }, performance.now() + 60_000)
  }
  const sender = logRow()
  const ofSender = { bundle_identifier: sender.bundle_identifier, device_uuid: sender.device_uuid }

  t.test('a key of a record', async (t) => {
    const [log, feedback] = [logRow(ofSender), feedbackRow(ofSender)]
    await reserve('logs', 'order-17', log)
    await reserve('feedback', 'order-17', feedback)
    const before = await traceKey('order-17', sender)
    t.match(before, { reservations: [{ scope: 'logs', id: log.id }, { scope: 'feedback' }] })
    t.same(before.records, [], 'reserved, and nothing stored')
    await insert('logs', [log, logRow(ofSender)])
    await enqueue([feedback, feedbackRow(ofSender)], { kind: 'feedback' })
    const { records } = await traceKey('order-17', sender)
    t.same(records.map(({ id }) => id).toSorted(), [log.id, feedback.id].toSorted())
    t.same((await traceKey('order-17', logRow())).records, [], 'of another device')
  })

  t.test('a UUID in capitals, and a UUIDv7, for which nothing is reserved', async (t) => {
    const log = logRow(ofSender)
    const key = randomUUID()
    await reserve('logs', key, log)
    await insert('logs', [log])
    t.match(await traceKey(key.toUpperCase(), sender), {
      records: [{ state: 'stored', id: log.id }],
    })
    const own = await traceKey(log.id, sender)
    t.same(own.reservations, [])
    t.match(own, { records: [{ id: log.id }] })
  })

  t.test('a key with letters beyond ASCII, sent as UTF-8 or Latin-1', async (t) => {
    const utf8 = Buffer.from('Bestellung für Jürgen').toString('latin1')
    for (const [key, asRead] of [
      ['Bestellung für Jürgen', utf8],
      ['für Anaïs', 'für Anaïs'],
    ] as const) {
      const log = logRow(ofSender)
      await reserve('logs', asRead, log)
      await insert('logs', [log])
      t.match(await traceKey(key, sender), { records: [{ id: log.id }] }, key)
    }
  })

  t.test('the key of a batch, with the times of its events', async (t) => {
    const request = createIdentity(Date.now())
    await reserve('batches', 'batch-1', request)
    const rows = [0, 499].map((index) => {
      const { id, time } = deriveIdentity(request, index, Date.now() - index * 3_600_000)
      return logRow({ ...ofSender, id, time })
    })
    await insert('logs', [rows[0]!])
    await enqueue([rows[1]!, logRow(ofSender)])
    const { records, reservations } = await traceKey('batch-1', sender)
    t.same(reservations, [{ scope: 'batches', id: parseIdentity(request.id).id }])
    const states = records.map(({ id, state }) => `${id} ${state}`).toSorted()
    t.same(states, [`${rows[0]!.id} stored`, `${rows[1]!.id} queued`].toSorted())
  })
})

t.test('without Redis, a stored record is found by its id', async (t) => {
  const row = logRow()
  await insert('logs', [row])
  const away = { REDIS_URL: 'redis://127.0.0.1:1' }
  const key = ['--key', 'k', '--bundle', 'b', '--device', randomUUID()]
  const asked = [[row.id], [row.id, '--json'], [randomUUID()], key]
  // Each command waits ten seconds for Redis. As processes they wait at the same time.
  const run = createIntakeProcess({ cwd: dataDir, env: { ...endpoints, ...away } })
  const [found, json, unknown, keyed] = await Promise.all(
    asked.map((args) => run(['trace', ...args])),
  )
  t.match(found, { code: 0, stdout: /^stored\tlogs\t/, stderr: /^Redis cannot be asked, so/ })
  t.match(JSON.parse(json!.stdout), { state: 'stored', queue_unread: /\w/ })
  const stderr = /Not in ClickHouse, and Redis cannot be asked\./
  t.match(unknown, { code: 1, stdout: '', stderr })
  t.match(keyed, { code: 1, stdout: '', stderr: /^Redis cannot be reached: connect ECONNREFUSED/ })
})

t.test('a Redis that has lost its data hides no stored record', async (t) => {
  const row = logRow()
  await insert('logs', [row])
  const mark = await keys.getdel('{intake}:installation')
  t.teardown(() => keys.set('{intake}:installation', mark!))
  const stderr = /^Redis cannot be asked, .* Redis belongs to no installation\.$/m
  t.match(await intake(['trace', row.id]), { code: 0, stdout: /^stored\tlogs\t/, stderr })
})

t.test('without a server of a cluster, commands name it, and trace asks the tables', async (t) => {
  const cluster = await startRedisCluster({
    dataDir: createDataDir(t),
    replicas: 0,
    config: ['cluster-require-full-coverage no'],
  })
  t.teardown(() => cluster.close())
  const redis = openRedis(t, cluster)
  await claimInstallation(redis, (await keys.get('{intake}:installation'))!)
  for (const shard of [1, 2]) await registerShard(redis, shard)
  const lost = await cluster.primaryOf(shardPrefix(1))
  t.not(lost, await cluster.primaryOf(shardPrefix(0)))
  await lost.process.kill()

  const row = logRow()
  await insert('logs', [row])
  const [traced, paused] = await Promise.all(
    [
      ['trace', row.id, '--json'],
      ['queue', 'pause'],
    ].map((args) => intake(args, { REDIS_URL: cluster.url })),
  )
  const reason = (ms: number) =>
    `Redis took longer than ${ms} ms: no connection to 127.0.0.1:${lost.port}`
  t.match(traced, { code: 0, stderr: '' })
  t.match(JSON.parse(traced!.stdout), {
    state: 'stored',
    records: [{ id: row.id }],
    queue_unread: reason(5_000),
  })
  t.match(paused, { code: 1, stderr: `${reason(10_000)}\n` })
})

t.test('frames that this version cannot read are counted', async (t) => {
  await createJobSink({ redis: keys, kind: 'logs' }).add(randomUUID(), { v: 99 })
  t.match(await trace(randomUUID()), { unreadable_frames: 1 })
})

t.test('wrong usage is reported in one sentence, with exit code 1', async (t) => {
  const device = randomUUID()
  const cases: [string[], RegExp][] = [
    [[], /^Give an id, or --key with --bundle and --device\.\n$/],
    [['order-17'], /^An id is a UUID\. For another key use --key\.\n$/],
    [['--key', 'k', '--bundle', 'b'], /^Give an id, or --key/],
    [[device, '--key', 'k'], /not both\.\n$/],
  ]
  for (const [args, stderr] of cases)
    t.match(await intake(['trace', ...args]), { code: 1, stdout: '', stderr })
})
