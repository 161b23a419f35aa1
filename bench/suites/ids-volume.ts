import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { LoadResult } from '../load/tally.ts'
import { requireNoFailure } from '../measure.ts'
import { number } from '../report/format.ts'
import { readMemory, readReservations } from '../reservations.ts'
import { untilDrained } from '../until-drained.ts'
import { requireExact, visibleDigest } from '../visible.ts'
import type { SuitePart } from './suite.ts'

const entries = 500
const repeatEvery = 10
const connections = 16
const megabytes = 64
const secondsMax = 3_600
const table = 'intake.logs_raw'

/** Many events with UUIDv7 ids, some sent twice, through a small Redis. */
export async function measureVolume(shared: Bench): Promise<SuitePart> {
  const events = shared.options.quick ? 50_000 : 3_000_000
  const bench = await shared.withRedis(`${megabytes}mb`)
  const { generator, services } = bench
  const variant = await bench.start('intake')
  const before = await readMemory(services.keys)
  bench.say(`ids: ${number(events)} events through a Redis of ${megabytes} MB`)
  const begin = performance.now()
  const load = await generator.run({
    loop: 'closed',
    ports: variant.ports,
    connections,
    seconds: secondsMax,
    requestsMax: events / entries,
    repeatEvery,
    retryRefusals: true,
    requests: { kind: 'batch', size: defaultBodySize, entries, gzip: false, ids: 'uuidv7' },
    apiKey: services.apiKey,
  })
  requireNoFailure('ids', load)
  await untilDrained(bench)
  const seconds = (performance.now() - begin) / 1_000
  requireExact('ids', load.acknowledged, await visibleDigest(services.sql, table))
  const [view] = await services.sql.query<{ rows: number }>(
    'SELECT count() AS rows FROM intake.logs',
  )
  const [after, kept] = [await readMemory(services.keys), await readReservations(services.keys)]
  await variant.stop()
  await services.sql.command(`TRUNCATE TABLE ${table}`)

  const visible = view?.rows ?? 0
  const keys = kept.buckets + kept.counters
  const what = `${number(events)} events with UUIDv7 ids, a tenth sent twice, in ${megabytes} MB of Redis`
  return {
    table: numbersTable({ load, seconds, visible, keys, before, after }),
    checks: [
      {
        item: '8',
        what: `${what}: visible`,
        measured: number(visible),
        limit: `= ${number(events)}`,
        met: visible === events,
      },
      {
        item: '8',
        what: `${what}: keys of reservations`,
        measured: number(keys),
        limit: '= 0',
        met: keys === 0,
      },
    ],
    raw: { load, seconds, visible, kept, before, after },
  }
}

type Memory = Awaited<ReturnType<typeof readMemory>>

function numbersTable(of: {
  load: LoadResult
  seconds: number
  visible: number
  keys: number
  before: Memory
  after: Memory
}) {
  const { load, seconds, visible, keys, before, after } = of
  const mebibytes = (bytes: number) => number(bytes / 1024 ** 2, 1)
  return {
    title: `UUIDv7 ids through a Redis of ${megabytes} MB`,
    head: ['what', 'value'],
    rows: [
      ['events acknowledged', number(load.acknowledged.count)],
      [`requests of ${entries} sent twice, with the same response`, number(load.repeats)],
      ['events visible', number(visible)],
      ...Object.entries(load.refusals).map(([code, times]) => [
        `refused with \`${code}\` and retried`,
        number(times),
      ]),
      ['accepted/s, without the repeats', number(load.acknowledged.count / load.seconds)],
      ['delivered/s, without the repeats', number(load.acknowledged.count / seconds)],
      ['keys of reservations', number(keys)],
      ['memory of Redis before, MiB', mebibytes(before.used)],
      ['memory of Redis, maximum, MiB', mebibytes(after.peak)],
      ['memory of Redis after the queue is empty, MiB', mebibytes(after.used)],
    ],
  }
}
