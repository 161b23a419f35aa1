import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { ThreadCpu } from '../cpu.ts'
import type { Load } from '../load/main.ts'
import type { RequestKind } from '../load/requests.ts'
import { requireNoFailure, untilAtRest } from '../measure.ts'
import { untilRows } from '../rows-over-time.ts'
import { requireExact, visibleDigest } from '../visible.ts'
import type { Target } from './build.ts'
import type { Both, Costs } from './measurements.ts'
import { minus, openThreadAccount, times, type ThreadAccount, type Use } from './thread-account.ts'

export type Tools = Pick<Bench, 'generator' | 'owner' | 'say'>

/**
 * A kind of load. Its length is a number of requests, not a time, so that it is the same work on a
 * busy machine.
 */
interface LoadKind {
  requests: RequestKind
  connections: number
  /**
   * The number of requests in a pass. They take less than a second on two free processors, so that
   * both passes of a pair see the same machine.
   */
  passRequests: number
  /** The number of requests in a warm-up. After so many requests V8 compiles hardly anything. */
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
  // V8 has compiled all of a worker's hot code after some 200,000 events.
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
 * Waits this long after a load, because a worker polls its queues more often until ten seconds
 * after the last record.
 */
const settleSeconds = 12
/**
 * The period for measuring idle processes, long enough to include several runs of tasks that run
 * every second or two.
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

/** Measures the cost of single logs for the gateway. */
export async function passLogs(tools: Tools, target: Target): Promise<Costs> {
  const sent = await send(tools, target, { ...logs, requestsMax: logs.passRequests })
  return { gateway: times(sent.gateway.cpu, 1e6 / sent.events) }
}

/**
 * Measures the cost of batches for the gateway, and the CPU that the worker used for their events.
 */
export async function passBatches(
  tools: Tools,
  target: Target,
): Promise<{ batch: ThreadCpu; sent: Sent }> {
  const sent = await send(tools, target, { ...batches, requestsMax: batches.passRequests })
  return { batch: times(sent.gateway.cpu, 1e6 / sent.events), sent }
}

/** Measures the cost of forms with a picture for the gateway. */
export async function passForms(tools: Tools, target: Target): Promise<Costs> {
  const sent = await send(tools, target, { ...forms, requestsMax: forms.passRequests })
  return { form: times(sent.gateway.cpu, 1e6 / sent.events) }
}

/**
 * Computes the cost of events for the worker: the CPU that it used for batches, minus the CPU that
 * an idle worker uses in the same time. (With single logs, half of the measured CPU would be the
 * CPU of an idle worker.)
 */
export function workerCost({ events, worker }: Sent, idleWorker: ThreadCpu): Costs {
  const idle = times(idleWorker, worker.elapsed / 1_000)
  return { worker: times(minus(worker.cpu, idle), 1e6 / events) }
}

/**
 * Measures the cost of idle gateways and workers, of both builds in the same period. After a load,
 * call `settle` first.
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
