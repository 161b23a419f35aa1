import { setTimeout as pause } from 'node:timers/promises'
import { openAccount, parts, type Account, type CpuByPart, type Part } from './accounting.ts'
import type { Bench } from './bench.ts'
import { readProcessCpu } from './cpu.ts'
import { freeze, thaw } from './freeze.ts'
import type { Demand, Load } from './load/main.ts'
import type { LoadResult } from './load/tally.ts'
import { untilRows } from './until-rows.ts'
import type { Variant } from './variants.ts'
import { requireExact, visibleDigest } from './visible.ts'

/**
 * The result of a load on a variant. The measurement ends when all rows are visible and all
 * processes are idle.
 */
export interface Round {
  variant: string
  events: number
  seconds: number
  acceptedPerSecond: number
  /**
   * Events per second from the first request until the last row was visible; NaN if the variant
   * stores nothing.
   */
  deliveredPerSecond: number
  cpuPerEvent: CpuByPart
  foreignShare: number
  load: LoadResult
}

/**
 * Puts a load on a variant. Waits until every acknowledged event is visible and the processes are
 * idle, so that the CPU of postponed work (completions, merges) is counted. Then empties the table,
 * so that rounds do not affect each other.
 *
 * @param options.workersLater whether to freeze the workers during the load, so that they and
 * ClickHouse take no CPU from the gateway
 * @throws {NotExactError} if the visible rows are not exactly the acknowledged events
 * @throws if a request failed
 */
export async function measureRound(
  bench: Bench,
  variant: Variant,
  demand: Demand,
  options: { workersLater?: boolean } = {},
): Promise<Round> {
  const { services, generator } = bench
  const pids = pidsOf(bench, variant)
  const table = tableOf(variant, demand)
  let account: { read(): Account } | undefined
  let begin = 0
  const load: Load = { ...demand, ports: variant.ports, apiKey: services.apiKey }
  if (options.workersLater === true) freeze(variant.workers)
  const result = await generator
    .run(load, () => {
      begin = performance.now()
      account = openAccount(pids)
    })
    .finally(() => {
      if (options.workersLater === true) thaw(variant.workers)
    })
  requireNoFailure(variant.name, result)
  const events = result.acknowledged.count
  if (table !== undefined) await untilRows(bench, table, events)
  const delivered = performance.now()
  await untilAtRest(bench, [...pids.gateway, ...pids.redis, ...pids.worker, ...pids.clickhouse])
  const { cpu, foreignShare } = (account as { read(): Account }).read()

  if (table !== undefined) {
    const visible = await visibleDigest(services.sql, table)
    requireExact(variant.name, result.acknowledged, visible)
    await services.sql.command(`TRUNCATE TABLE ${table}`)
  }
  return {
    variant: variant.name,
    events,
    seconds: result.seconds,
    acceptedPerSecond: events / result.seconds,
    deliveredPerSecond: table === undefined ? NaN : events / ((delivered - begin) / 1_000),
    cpuPerEvent: Object.fromEntries(
      parts.map((part) => [part, (cpu[part] / events) * 1e6]),
    ) as CpuByPart,
    foreignShare,
    load: result,
  }
}

function tableOf({ database }: Variant, { requests }: Demand): string | undefined {
  if (database === undefined) return undefined
  return `${database}.${requests.kind === 'feedback' ? 'feedback_raw' : 'logs_raw'}`
}

/** The processes that a load on this variant uses, by component. */
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

const restWindowMs = 200
/**
 * Processes are at rest if together they use less than this share of one processor. Polling by
 * Redis clients and background work of ClickHouse use less.
 */
const restShare = 0.1
const restMs = 8_000

/**
 * Resolves when the processes have used almost no CPU for a moment. If they are still busy after
 * 8 s, prints a message and resolves, too.
 */
export async function untilAtRest({ say }: Pick<Bench, 'say'>, pids: number[]): Promise<void> {
  const deadline = performance.now() + restMs
  const used = () => pids.reduce((sum, pid) => sum + readProcessCpu(pid), 0)
  let before = used()
  while (performance.now() < deadline) {
    await pause(restWindowMs)
    const now = used()
    if (now - before <= (restShare * restWindowMs) / 1_000) return
    before = now
  }
  say(`still busy after ${restMs} ms: CPU used from now on is not counted`)
}
