import { setTimeout as pause } from 'node:timers/promises'
import { openAccount, parts, type Account, type CpuByPart, type Part } from './accounting.ts'
import type { Bench } from './bench.ts'
import { readProcessCpu } from './cpu.ts'
import type { Load } from './load/main.ts'
import type { LoadResult } from './load/tally.ts'
import { until } from './until.ts'
import type { Variant } from './variants.ts'
import { requireExact, rowsInserted, visibleDigest } from './visible.ts'

/** One load on one variant, from the first request until its rows are visible and nothing works. */
export interface Round {
  variant: string
  events: number
  /** Of the load. */
  seconds: number
  /** Events acknowledged per second of the load. */
  acceptedPerSecond: number
  /** Events per second from the first request until the last row was visible. */
  deliveredPerSecond: number
  /** Microseconds of CPU per acknowledged event. */
  cpuPerEvent: CpuByPart
  foreignShare: number
  load: LoadResult
}

const visibleMs = 120_000

/**
 * Puts a load on a variant and waits until every acknowledged event is visible and the processes are
 * at rest, so that what they put off (completions, merges) is in the account. Then empties the
 * table, so that no round meets what an earlier one has left.
 *
 * @throws {NotExactError} when the rows visible are not exactly the events acknowledged
 * @throws when a request failed
 */
export async function measureRound(
  bench: Bench,
  variant: Variant,
  load: Omit<Load, 'apiKey' | 'ports'>,
): Promise<Round> {
  const { services, generator } = bench
  const pids = pidsOf(bench, variant)
  let account: { close(): Account } | undefined
  let begin = 0
  const wanted = { ...load, ports: variant.ports, apiKey: services.apiKey } as Load
  const result = await generator.run(wanted, () => {
    begin = performance.now()
    account = openAccount(pids)
  })
  requireNoFailure(variant.name, result)
  const { database } = variant
  const events = result.acknowledged.count
  if (database !== undefined) await untilInserted(bench, database, events)
  const delivered = performance.now()
  await untilAtRest([...pids.gateway, ...pids.redis, ...pids.worker, ...pids.clickhouse])
  const { cpu, foreignShare } = (account as { close(): Account }).close()

  if (database !== undefined) {
    const visible = await visibleDigest(services.sql, `${database}.logs_raw`)
    requireExact(variant.name, result.acknowledged, visible)
    await services.sql.command(`TRUNCATE TABLE ${database}.logs_raw`)
  }
  return {
    variant: variant.name,
    events,
    seconds: result.seconds,
    acceptedPerSecond: events / result.seconds,
    deliveredPerSecond: events / ((delivered - begin) / 1_000),
    cpuPerEvent: Object.fromEntries(
      parts.map((part) => [part, (cpu[part] / events) * 1e6]),
    ) as CpuByPart,
    foreignShare,
    load: result,
  }
}

/** The processes that a load on this variant puts to work, by part. */
export function pidsOf(bench: Bench, variant: Variant): Record<Part, number[]> {
  const { services, generator } = bench
  return {
    gateway: variant.gateways.map(({ pid }) => pid),
    redis: [services.redis.pid],
    worker: variant.workers.map(({ pid }) => pid),
    clickhouse: [services.clickhouse.pid],
    load: [generator.pid],
    other: [process.pid, services.s3.pid],
  }
}

export function requireNoFailure(what: string, { failures }: LoadResult): void {
  const reasons = Object.entries(failures).map(([reason, times]) => `${times} × ${reason}`)
  if (reasons.length > 0) throw new Error(`${what}: requests failed: ${reasons.join(', ')}`)
}

export async function untilInserted(
  { services }: Bench,
  database: string,
  events: number,
): Promise<void> {
  await until(
    `${events} rows are in ${database}`,
    async () => (await rowsInserted(services.sql, database)) >= events,
    { timeoutMs: visibleMs, everyMs: 50 },
  )
}

const restWindowMs = 200
/** Of one processor; a Redis client's polling and ClickHouse's own upkeep stay below it. */
const restShare = 0.1
const restMs = 8_000

/** Resolves when the processes together have used next to no CPU for a moment, or after 8 s. */
export async function untilAtRest(pids: number[]): Promise<void> {
  const deadline = performance.now() + restMs
  const used = () => pids.reduce((sum, pid) => sum + readProcessCpu(pid), 0)
  let before = used()
  while (performance.now() < deadline) {
    await pause(restWindowMs)
    const now = used()
    if (now - before <= (restShare * restWindowMs) / 1_000) return
    before = now
  }
}
