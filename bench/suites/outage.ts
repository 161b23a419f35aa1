import { setTimeout as pause } from 'node:timers/promises'
import { availableParallelism } from 'node:os'
import { queueNames, queuePrefix } from '@intake/contract'
import { openAccount } from '../accounting.ts'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { insertDirectly, type DirectInsert } from '../direct-insert.ts'
import type { LoadResult } from '../load/tally.ts'
import { measureRound, pidsOf, requireNoFailure, untilAtRest } from '../measure.ts'
import { number, ratio } from '../report/format.ts'
import { drainLine } from '../report/plots.ts'
import { untilRows, type RowsSample } from '../rows-over-time.ts'
import type { Variant } from '../variants.ts'
import { requireExact, visibleDigest } from '../visible.ts'
import type { Check, SuiteResult } from './suite.ts'

const connections = 64
const requests = { kind: 'log', size: defaultBodySize } as const

const method = `ClickHouse is killed, then events come in over ${connections} connections as fast as
they are taken. Bytes per event are the growth of Redis's \`used_memory\` and of its append-only file
(rewriting is off meanwhile). ClickHouse is started again on its data: the drain rate counts from the
first to the last row, so the worker's pause between two attempts (up to a minute) is in "time to
empty" but not in the rate. ClickHouse's cost per row is compared with direct inserts of 5,000 rows
of the same kind, before and after. For \`naive\` the worker is stopped instead: its jobs would fail
for good.`

/** What a buffered event takes. */
interface Buffered {
  load: LoadResult
  memoryPerEvent: number
  fileBytesPerEvent: number
}

interface Drain {
  /** From ClickHouse's return until the first row, in seconds. */
  firstRowSeconds: number
  emptySeconds: number
  rowsPerSecond: number
  /** Microseconds of CPU per event. */
  cpu: { worker: number; redis: number; clickhouse: number }
  /** Share of all processors. */
  machineShare: { worker: number; clickhouse: number }
  samples: RowsSample[]
}

/** What an outage of ClickHouse costs, and how fast its backlog is gone. */
export async function outage(bench: Bench): Promise<SuiteResult> {
  const events = bench.options.quick ? 20_000 : 200_000
  const { keys } = bench.services
  await keys.config('SET', 'auto-aof-rewrite-percentage', '0')

  const intake = await bench.start('intake')
  await warmUp(bench, intake)
  const before = await insertDirectly(bench, events / 2)
  bench.say(`outage: ClickHouse is stopped, ${events} events come in`)
  await bench.services.stopClickHouse()
  const buffered = await buffer(bench, intake, events)
  const frames = await framesInQueue(bench)
  bench.say(`outage: ${Math.round(buffered.memoryPerEvent)} B per event, ClickHouse returns`)
  const drained = await drain(bench, intake, buffered.load)
  const after = await insertDirectly(bench, events / 2)
  await intake.stop()

  bench.say('outage: the same for naive, with fewer events')
  const naive = await bufferNaive(bench, events / 10)
  await keys.config('SET', 'auto-aof-rewrite-percentage', '100')

  const direct = {
    cpuPerRow: (before.cpuPerRow + after.cpuPerRow) / 2,
    rowsPerSecond: (before.rowsPerSecond + after.rowsPerSecond) / 2,
  }
  return {
    name: 'outage',
    title: 'Outage of ClickHouse',
    method,
    tables: [bufferTable(buffered, naive, frames), drainTable(drained, direct)],
    checks: checks(buffered, drained, direct),
    plots: [
      {
        name: 'outage',
        title: 'Rows after the return of ClickHouse',
        svg: drainLine(drained.samples),
      },
    ],
    raw: { events, buffered, frames, drained, naive, direct: { before, after } },
  }
}

async function warmUp(bench: Bench, variant: Variant): Promise<void> {
  await measureRound(bench, variant, {
    loop: 'closed',
    connections,
    seconds: bench.options.seconds + 1,
    requests,
  })
}

/** Sends events that stay in Redis, and tells how much it has grown. */
async function buffer(bench: Bench, variant: Variant, events: number): Promise<Buffered> {
  const { generator, services } = bench
  const begin = await redisSize(bench)
  const load = await generator.run({
    loop: 'closed',
    ports: variant.ports,
    connections,
    seconds: 300,
    requestsMax: events,
    requests,
    apiKey: services.apiKey,
  })
  requireNoFailure(variant.name, load)
  const end = await redisSize(bench)
  const { count } = load.acknowledged
  return {
    load,
    memoryPerEvent: (end.memory - begin.memory) / count,
    fileBytesPerEvent: (end.file - begin.file) / count,
  }
}

async function redisSize({ services }: Bench): Promise<{ memory: number; file: number }> {
  const info = `${await services.keys.info('memory')}\n${await services.keys.info('persistence')}`
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
  return { memory: field('used_memory'), file: field('aof_current_size') }
}

async function framesInQueue({ services }: Bench): Promise<number> {
  const length = (list: string) => services.keys.llen(`${queuePrefix}:${queueNames.logs}:${list}`)
  return (await length('wait')) + (await length('active'))
}

async function drain(bench: Bench, intake: Variant, load: LoadResult): Promise<Drain> {
  const { services } = bench
  await services.startClickHouse()
  const begin = performance.now()
  const { count } = load.acknowledged
  const [first] = (await untilRows(bench, 'intake.logs_raw', 1)).slice(-1)
  const firstAt = performance.now()
  const account = openAccount(pidsOf(bench, intake))
  const samples = await untilRows(bench, 'intake.logs_raw', count)
  const lastAt = performance.now()
  await untilAtRest([...intake.workers.map(({ pid }) => pid), services.clickhouse.pid])
  const { cpu } = account.close()
  requireExact('outage', load.acknowledged, await visibleDigest(services.sql, 'intake.logs_raw'))
  await services.sql.command('TRUNCATE TABLE intake.logs_raw')

  const rows = count - (first?.rows ?? 0)
  const seconds = (lastAt - firstAt) / 1_000
  const perEvent = (cpuSeconds: number) => (cpuSeconds / rows) * 1e6
  return {
    firstRowSeconds: (firstAt - begin) / 1_000,
    emptySeconds: (lastAt - begin) / 1_000,
    rowsPerSecond: rows / seconds,
    cpu: {
      worker: perEvent(cpu.worker),
      redis: perEvent(cpu.redis),
      clickhouse: perEvent(cpu.clickhouse),
    },
    machineShare: {
      worker: cpu.worker / seconds / availableParallelism(),
      clickhouse: cpu.clickhouse / seconds / availableParallelism(),
    },
    samples,
  }
}

async function bufferNaive(
  bench: Bench,
  events: number,
): Promise<Buffered & { drainPerSecond: number }> {
  const { sql } = bench.services
  const gateway = await bench.start('naive', { workers: 0 })
  const buffered = await buffer(bench, gateway, events)
  await gateway.stop()
  const begin = performance.now()
  const naive = await bench.start('naive')
  await untilRows(bench, 'bench_naive.logs_raw', buffered.load.acknowledged.count)
  const seconds = (performance.now() - begin) / 1_000
  await pause(500)
  await naive.stop()
  const visible = await visibleDigest(sql, 'bench_naive.logs_raw')
  requireExact('outage, naive', buffered.load.acknowledged, visible)
  await sql.command('TRUNCATE TABLE bench_naive.logs_raw')
  return { ...buffered, drainPerSecond: events / seconds }
}

const acceptedPerSecond = ({ load }: Buffered) => load.acknowledged.count / load.seconds

function bufferTable(intake: Buffered, naive: Buffered, frames: number) {
  const row = (name: string, of: Buffered) => [
    name,
    number(of.load.acknowledged.count),
    number(acceptedPerSecond(of)),
    number(of.memoryPerEvent),
    number(of.fileBytesPerEvent),
  ]
  const perFrame = number(intake.load.acknowledged.count / frames, 1)
  return {
    title: 'Buffered in Redis',
    head: ['variant', 'events', 'accepted/s', 'memory, B/event', 'append-only file, B/event'],
    rows: [row('intake', intake), row('naive', naive)],
    note: `Bodies of ${defaultBodySize} B. Intake put ${perFrame} events into a frame on average.
The same memory holds ${ratio(naive.memoryPerEvent / intake.memoryPerEvent)} as many events as \`naive\`.`,
  }
}

function drainTable(drained: Drain, direct: Pick<DirectInsert, 'cpuPerRow' | 'rowsPerSecond'>) {
  const percent = (share: number) => `${number(share * 100)} %`
  return {
    title: 'Drained',
    head: ['what', 'value'],
    rows: [
      ['drain rate, events/s', number(drained.rowsPerSecond)],
      ['direct inserts of 5,000 rows one after the other, rows/s', number(direct.rowsPerSecond)],
      ['from ClickHouse’s return to the first row, s', number(drained.firstRowSeconds, 1)],
      ['from ClickHouse’s return to empty, s', number(drained.emptySeconds, 1)],
      ['worker CPU, µs/event', number(drained.cpu.worker, 1)],
      ['Redis CPU, µs/event', number(drained.cpu.redis, 1)],
      ['ClickHouse CPU, µs/row', number(drained.cpu.clickhouse, 1)],
      ['ClickHouse CPU of the direct inserts, µs/row', number(direct.cpuPerRow, 1)],
      ['of all processors: worker', percent(drained.machineShare.worker)],
      ['of all processors: ClickHouse', percent(drained.machineShare.clickhouse)],
    ],
    note: `CPU includes the merges after the last row, so its share of the drain can pass 100 %.`,
  }
}

const clickHouseBoundShare = 0.8

function checks(
  buffered: Buffered,
  drained: Drain,
  direct: Pick<DirectInsert, 'cpuPerRow' | 'rowsPerSecond'>,
): Check[] {
  const clickhouseRatio = drained.cpu.clickhouse / direct.cpuPerRow
  const drainRatio = drained.rowsPerSecond / acceptedPerSecond(buffered)
  const ofDirect = drained.rowsPerSecond / direct.rowsPerSecond
  return [
    {
      item: '3',
      what: `Redis bytes per buffered event of ${defaultBodySize} B`,
      measured: `${number(buffered.memoryPerEvent)} B`,
      limit: '≤ 400 B',
      met: buffered.memoryPerEvent <= 400,
    },
    {
      item: '4',
      what: 'Worker CPU per event at saturation',
      measured: `${number(drained.cpu.worker, 1)} µs`,
      limit: '≤ 5 µs',
      met: drained.cpu.worker <= 5,
    },
    {
      item: '4',
      what: 'ClickHouse CPU per row ÷ direct 5,000-row insert',
      measured: ratio(clickhouseRatio),
      limit: '≤ 1.20 ×',
      met: clickhouseRatio <= 1.2,
    },
    {
      item: '4',
      what: 'Drain rate ÷ accept rate (or ÷ direct inserts: limited by ClickHouse)',
      measured: `${ratio(drainRatio)} (${ratio(ofDirect)})`,
      limit: `≥ 3 × (or ≥ ${ratio(clickHouseBoundShare)})`,
      met: drainRatio >= 3 || ofDirect >= clickHouseBoundShare,
    },
  ]
}
