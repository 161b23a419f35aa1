import { availableParallelism } from 'node:os'
import { openAccount } from './accounting.ts'
import type { Bench } from './bench.ts'
import type { RequestKind } from './load/requests.ts'
import type { LoadResult } from './load/tally.ts'
import { pidsOf, requireNoFailure, untilAtRest } from './measure.ts'
import { untilRows, type RowsSample } from './rows-over-time.ts'
import type { Variant } from './variants.ts'
import { requireExact, visibleDigest } from './visible.ts'

export const backlogConnections = 64

/** Events that wait in Redis, and what one of them takes there, in bytes. */
export interface Buffered {
  load: LoadResult
  memoryPerEvent: number
  fileBytesPerEvent: number
}

/** How the backlog went. */
export interface Drain {
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

/** Sends events that stay in Redis, and tells how much it has grown. */
export async function buffer(
  bench: Bench,
  variant: Variant,
  options: { events: number; requests: RequestKind },
): Promise<Buffered> {
  const { events, requests } = options
  const { generator, services } = bench
  const begin = await redisSize(bench)
  const load = await generator.run({
    loop: 'closed',
    ports: variant.ports,
    connections: backlogConnections,
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

/** Starts ClickHouse and waits until every event of the load is visible. */
export async function drain(bench: Bench, intake: Variant, load: LoadResult): Promise<Drain> {
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
