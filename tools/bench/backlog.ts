import { availableParallelism } from 'node:os'
import { openAccount } from './accounting.ts'
import type { Bench } from './bench.ts'
import { freeze, thaw } from './freeze.ts'
import type { RequestKind } from './load/requests.ts'
import type { LoadResult } from './load/tally.ts'
import { pidsOf, requireNoFailure, untilAtRest } from './measure.ts'
import { untilRows } from './until-rows.ts'
import type { Variant } from './variants.ts'
import { requireExact, visibleDigest } from './visible.ts'

export const backlogConnections = 64

/**
 * A load whose events wait in Redis, and the bytes that one event takes in Redis: in memory, and in
 * the append-only file.
 */
export interface Buffered {
  load: LoadResult
  memoryPerEvent: number
  fileBytesPerEvent: number
}

/** The speed and cost of a drain. */
export interface Drain {
  rowsPerSecond: number
  cpu: { worker: number; redis: number; clickhouse: number }
  /**
   * Microseconds of the worker's CPU per event, from the first visible row until seven tenths of
   * the events are visible. In this time the worker is saturated: it claims as many frames as it
   * completes.
   */
  saturatedWorkerCpu: number
  /**
   * The shares of the machine's CPU time that the worker and ClickHouse used until the last row was
   * visible.
   */
  machineShare: { worker: number; clickhouse: number }
}

const saturatedShare = 0.7

/** Sends events that remain in Redis, and measures how much Redis has grown. */
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

/** Sends events that stay in Redis because the workers are frozen; then thaws the workers. */
export async function bufferBehindFrozenWorkers(
  bench: Bench,
  intake: Variant,
  options: { events: number; requests: RequestKind },
): Promise<Buffered> {
  freeze(intake.workers)
  try {
    return await buffer(bench, intake, options)
  } finally {
    thaw(intake.workers)
  }
}

/** Waits until every event of the load is visible. Measures the time and CPU that this takes. */
export async function drain(bench: Bench, intake: Variant, load: LoadResult): Promise<Drain> {
  const { services } = bench
  const account = openAccount(pidsOf(bench, intake))
  const { count } = load.acknowledged
  const until = (rows: number) => untilRows(bench, 'intake.logs_raw', rows)
  const firstRows = await until(1)
  const firstAt = performance.now()
  const saturation = openAccount(pidsOf(bench, intake))
  const mostRows = await until(count * saturatedShare)
  const saturated = saturation.read()
  await until(count)
  const lastAt = performance.now()
  const untilLast = account.read()
  await untilAtRest(bench, [...intake.workers.map(({ pid }) => pid), services.clickhouse.pid])
  const { cpu } = account.read()
  requireExact('outage', load.acknowledged, await visibleDigest(services.sql, 'intake.logs_raw'))
  if (mostRows === firstRows) throw new Error(`${count} events are too few to see a worker drain`)
  await services.sql.command('TRUNCATE TABLE intake.logs_raw')

  const perEvent = (cpuSeconds: number) => (cpuSeconds / count) * 1e6
  const share = (cpuSeconds: number) => cpuSeconds / untilLast.elapsed / availableParallelism()
  return {
    rowsPerSecond: (count - firstRows) / ((lastAt - firstAt) / 1_000),
    cpu: {
      worker: perEvent(cpu.worker),
      redis: perEvent(cpu.redis),
      clickhouse: perEvent(cpu.clickhouse),
    },
    saturatedWorkerCpu: (saturated.cpu.worker / (mostRows - firstRows)) * 1e6,
    machineShare: {
      worker: share(untilLast.cpu.worker),
      clickhouse: share(untilLast.cpu.clickhouse),
    },
  }
}
