import { setTimeout as pause } from 'node:timers/promises'
import { openAccount } from '../accounting.ts'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { ThreadCpu } from '../cpu.ts'
import { freeze, thaw } from '../freeze.ts'
import type { Load } from '../load/main.ts'
import type { RequestKind } from '../load/requests.ts'
import { requireNoFailure, untilAtRest } from '../measure.ts'
import { untilRows } from '../until-rows.ts'
import { requireExact, visibleDigest } from '../visible.ts'
import type { Target } from './build.ts'
import type { Both, Costs } from './measurements.ts'
import { minus, openThreadAccount, times, type ThreadAccount, type Use } from './thread-account.ts'

export type Tools = Pick<Bench, 'generator' | 'owner' | 'say'>

/**
 * A kind of load. Its length is a number of requests, not a time, so that a busy machine gets the
 * same work.
 */
interface LoadKind {
  requests: RequestKind
  connections: number
  /**
   * The number of requests in a pass. They take less than a second on two free processors, so that
   * the machine hardly changes between the two passes of a pair.
   */
  passRequests: number
  /**
   * The number of requests in a warm-up. After so many requests, V8 compiles hardly any more code.
   */
  warmUpRequests: number
}

const logs: LoadKind = {
  requests: { kind: 'log', size: defaultBodySize },
  connections: 64,
  passRequests: 6_000,
  warmUpRequests: 40_000,
}
const batches = {
  requests: { kind: 'batch' as const, size: defaultBodySize, entries: 50, gzip: false },
  connections: 16,
  passRequests: 600,
  // After some 200,000 events (4,000 batches of 50), V8 has compiled all of a worker's hot code.
  warmUpRequests: 4_000,
} satisfies LoadKind
const forms: LoadKind = {
  requests: { kind: 'feedback', images: 1, imageBytes: 300_000 },
  connections: 8,
  passRequests: 300,
  warmUpRequests: 1_200,
}
/** Loads for which the CPU of all processes is measured: long, because a tick has 10 ms. */
const systemLogs: LoadKind = { ...logs, passRequests: 20_000 }
const systemBatches: LoadKind = {
  ...batches,
  requests: { ...batches.requests, entries: 100 },
  passRequests: 1_000,
}

/** The timeout of a load. Only a load that hangs reaches it. */
const loadSecondsMax = 600
/**
 * How long to wait after a load before idle processes are measured. A worker polls its queues more
 * often until ten seconds after the last record.
 */
const settleSeconds = 12
/**
 * How long idle processes are measured. Some of their tasks run every second or two, and this is
 * long enough for several runs of each.
 */
const idleSeconds = 6

export async function warmUpHalf(
  tools: Tools,
  target: Target,
  options: { withBatches: boolean; withForms: boolean },
): Promise<void> {
  if (options.withBatches) {
    await send(tools, target, { ...batches, requestsMax: batches.warmUpRequests / 2 })
  }
  if (options.withForms) {
    await send(tools, target, { ...forms, requestsMax: forms.warmUpRequests / 2 })
  }
  await send(tools, target, { ...logs, requestsMax: logs.warmUpRequests / 2 })
}

/** Measures how much CPU a single log costs the gateway. */
export async function passLogs(tools: Tools, target: Target): Promise<Costs> {
  const sent = await send(tools, target, { ...logs, requestsMax: logs.passRequests })
  return { gateway: times(sent.gateway.cpu, 1e6 / sent.events) }
}

/**
 * Measures how much CPU an event in a batch costs the gateway, and how much CPU the worker used for
 * these events.
 */
export async function passBatches(
  tools: Tools,
  target: Target,
): Promise<{ batch: ThreadCpu; sent: Sent }> {
  const sent = await send(tools, target, { ...batches, requestsMax: batches.passRequests })
  return { batch: times(sent.gateway.cpu, 1e6 / sent.events), sent }
}

export async function passForms(tools: Tools, target: Target): Promise<Costs> {
  const sent = await send(tools, target, { ...forms, requestsMax: forms.passRequests })
  return { form: times(sent.gateway.cpu, 1e6 / sent.events) }
}

export async function passAllLogs(tools: Tools, target: Target): Promise<Costs> {
  return { allLog: (await drain(tools, target, systemLogs)).cpu }
}

/** As `passAllLogs`, for events in batches of 100, and how fast the worker drains them. */
export async function passAllBatches(tools: Tools, target: Target): Promise<Costs> {
  const { cpu, usPerRow } = await drain(tools, target, systemBatches)
  return { allBatch: cpu, drain: { main: usPerRow, helpers: 0 } }
}

/**
 * Computes how much CPU an event costs the worker. This is the CPU that the worker used for
 * batches, minus the CPU that an idle worker uses in the same time. Batches are measured, because
 * with single logs half of the CPU would be that of an idle worker.
 */
export function workerCost({ events, worker }: Sent, idleWorker: ThreadCpu): Costs {
  const idle = times(idleWorker, worker.elapsed / 1_000)
  return { worker: times(minus(worker.cpu, idle), 1e6 / events) }
}

/**
 * Measures how much CPU idle gateways and workers use, for both builds in the same period. After a
 * load, call `settle` first.
 */
export async function passIdle(targets: Both<Target>): Promise<Both<IdleCosts>> {
  const open = ({ gateway, worker }: Target) => ({
    gateway: openThreadAccount(gateway),
    worker: openThreadAccount(worker),
  })
  const [base, tree] = [open(targets.base), open(targets.tree)]
  await pause(idleSeconds * 1_000)
  const perSecond = ({ cpu, elapsed }: Use) => times(cpu, 1_000 / elapsed)
  const read = ({ gateway, worker }: ReturnType<typeof open>) => ({
    idleGateway: perSecond(gateway.read()),
    idleWorker: perSecond(worker.read()),
  })
  return { base: read(base), tree: read(tree) }
}

/** Waits until the last load has no more effect on the CPU of idle processes. */
export const settle = (): Promise<void> => pause(settleSeconds * 1_000)

export type IdleCosts = Required<Pick<Costs, 'idleGateway' | 'idleWorker'>>

export interface Sent {
  events: number
  /** The CPU that the gateway used while requests were sent. */
  gateway: Use
  /**
   * The CPU that the worker used from the first request until all events were stored and the worker
   * was at rest.
   */
  worker: Use
}

/**
 * Sends requests to running processes, checks that exactly their events are visible, and empties
 * the table.
 */
async function send(
  { generator, owner, say }: Tools,
  target: Target,
  { requests, connections, requestsMax }: LoadKind & { requestsMax: number },
): Promise<Sent> {
  const { name, services } = target
  const load = loadOf(target, { requests, connections, requestsMax })
  let accounts: Record<'gateway' | 'worker', ThreadAccount> | undefined
  const result = await generator.run(load, () => {
    accounts = {
      gateway: openThreadAccount(target.gateway),
      worker: openThreadAccount(target.worker),
    }
  })
  if (accounts === undefined) throw new Error('the load did not begin')
  const gateway = accounts.gateway.read()
  requireNoFailure(name, result)
  const { acknowledged } = result
  const table = requests.kind === 'feedback' ? 'intake.feedback_raw' : 'intake.logs_raw'
  await untilRows({ services, owner }, table, acknowledged.count)
  await untilAtRest({ say }, [target.worker.pid])
  const worker = accounts.worker.read()
  requireExact(name, acknowledged, await visibleDigest(services.sql, table))
  await services.sql.command(`TRUNCATE TABLE ${table}`)
  return { events: acknowledged.count, gateway, worker }
}

const loadOf = (
  { ports, services: { apiKey } }: Target,
  kind: Pick<LoadKind, 'requests' | 'connections'> & { requestsMax: number },
): Load => ({ loop: 'closed', ports, seconds: loadSecondsMax, apiKey, ...kind })

/**
 * Sends requests while the worker is frozen, and lets it drain them. The CPU counts from the first
 * request until ClickHouse has merged the rows; the time per row, from the first visible row to the
 * last.
 */
async function drain(
  { generator, owner, say }: Tools,
  target: Target,
  { requests, connections, passRequests }: LoadKind,
): Promise<{ cpu: ThreadCpu; usPerRow: number }> {
  const { name, services, gateway, worker } = target
  const { redis, clickhouse } = services
  const pids = {
    gateway: [gateway.pid],
    redis: [redis.pid],
    worker: [worker.pid],
    clickhouse: [clickhouse.pid],
    load: [],
    other: [],
  }
  const load = loadOf(target, { requests, connections, requestsMax: passRequests })
  let account: ReturnType<typeof openAccount> | undefined
  freeze([worker])
  const result = await generator
    .run(load, () => (account = openAccount(pids)))
    .finally(() => thaw([worker]))
  if (account === undefined) throw new Error('the load did not begin')
  requireNoFailure(name, result)
  const { acknowledged } = result
  const table = 'intake.logs_raw'
  const until = (rows: number) => untilRows({ services, owner }, table, rows)
  const firstRows = await until(1)
  const firstAt = performance.now()
  await until(acknowledged.count)
  const usPerRow = ((performance.now() - firstAt) * 1_000) / (acknowledged.count - firstRows)
  await untilAtRest({ say }, Object.values(pids).flat())
  const { cpu } = account.read()
  requireExact(name, acknowledged, await visibleDigest(services.sql, table))
  await services.sql.command(`TRUNCATE TABLE ${table}`)
  const used = { main: cpu.gateway + cpu.redis + cpu.worker, helpers: cpu.clickhouse }
  return { cpu: times(used, 1e6 / acknowledged.count), usPerRow }
}
