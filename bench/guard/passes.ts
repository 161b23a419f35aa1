import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { ThreadCpu } from '../cpu.ts'
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
const batches: LoadKind = {
  requests: { kind: 'batch', size: defaultBodySize, entries: 50, gzip: false },
  connections: 16,
  passRequests: 600,
  // After some 200,000 events (4,000 batches of 50), V8 has compiled all of a worker's hot code.
  warmUpRequests: 4_000,
}
const forms: LoadKind = {
  requests: { kind: 'feedback', images: 1, imageBytes: 300_000 },
  connections: 8,
  passRequests: 300,
  warmUpRequests: 1_200,
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

/** Executes the first or second half of a warm-up, in which V8 compiles the code of the passes. */
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

/** Measures how much CPU a form with a picture costs the gateway. */
export async function passForms(tools: Tools, target: Target): Promise<Costs> {
  const sent = await send(tools, target, { ...forms, requestsMax: forms.passRequests })
  return { form: times(sent.gateway.cpu, 1e6 / sent.events) }
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
  const { name, services, ports } = target
  const load: Load = {
    loop: 'closed',
    ports,
    connections,
    seconds: loadSecondsMax,
    requestsMax,
    requests,
    apiKey: services.apiKey,
  }
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
