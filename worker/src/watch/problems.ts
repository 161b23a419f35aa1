import { quantity } from '@intake/runtime'
import {
  joinDetails,
  notKnown,
  separateStart,
  startProblems,
  type PolledCheck,
  type ProblemCheck,
  type Problems,
} from '@intake/health'
import type { ProblemCode } from '@intake/health/problem-catalogue'
import {
  backlogFromSeconds,
  queueKinds,
  type BacklogMonitor,
  type QueueName,
  type QueueState,
} from '@intake/queue'
import type { StoredStateMonitor } from '@intake/records'
import { ClickHouseError, type FailureKind } from '@intake/clickhouse'
import { kinds as recordKinds } from '@intake/contract'
import { isOutOfMemory } from '@intake/redis'
import type { Logger, Registry } from '@intake/runtime/process'
import type { RefusalRun } from '../deliver/refusal-run.ts'
import type { InstallationCheck } from './installation-check.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { Watermark } from './watermark.ts'

const notedCodes = ['frame_unreadable', 'locks_lost', 'webhook_fails'] as const
export type WorkerProblems = Problems<(typeof notedCodes)[number]>

const insertStalledMs = 5_000
const watermarkLateMs = 8_000
/** After the start of the first worker a watermark is stored, and has been read. */
const watermarkShownMs = 60_000
/** A loop that takes none of the waiting frames for so long is stuck; no healthy one does. */
const stuckMs = 60_000

type Detail = ReturnType<ProblemCheck>

interface Watched {
  /** How long the process has been running; default: that of this process. */
  uptimeMs?: () => number
  redisConnection: () => string | undefined
  /** The check of the server with the hash tag `{intake}`. */
  redisCheck: Pick<PolledCheck, 'problem' | 'error'>
  /** That of the servers with further shards of the log queue, in a Redis Cluster. */
  shardCheck?: Pick<PolledCheck, 'problem' | 'error'> | undefined
  installation: Pick<InstallationCheck, 'problem' | 'error' | 'difference'>
  backlogs: Pick<BacklogMonitor, 'of' | 'isLost'>
  stored: Pick<StoredStateMonitor, 'state'>
  activity: WorkerMetrics['activity']
  refusals: Record<QueueName, Pick<RefusalRun, 'isLong'>>
  watermark: Pick<Watermark, 'lateMs'>
}

/** Why servers cannot be used; a full one is another problem. */
const refusalOf = ({ problem, error }: Watched['redisCheck']) =>
  isOutOfMemory(error()) ? undefined : problem()

type Checks = Partial<Record<ProblemCode, ProblemCheck>>

export function startWorkerProblems(
  options: Watched & { log: Logger; metrics: Registry },
): WorkerProblems {
  const { redisConnection, redisCheck, shardCheck, log, metrics } = options
  /**
   * Why no frames can be taken from the server of shard 0 and of all other queues. Further shards
   * may be on other servers, which may work.
   */
  const { starting, lasting: redisProblem } = separateStart(
    () => redisConnection() ?? refusalOf(redisCheck),
    options.uptimeMs,
  )
  const isMainFull = () => isOutOfMemory(redisCheck.error())

  return startProblems({
    checks: {
      process_ends: starting,
      redis_connection() {
        if (starting() !== undefined) return undefined
        return redisProblem() ?? (shardCheck && refusalOf(shardCheck))
      },
      queue_full() {
        const detail =
          'Redis uses all of its maxmemory and accepts no writes: no frames can be claimed'
        if (isMainFull()) return detail
        return isOutOfMemory(shardCheck?.error()) ? `${detail} from a shard` : undefined
      },
      ...insertChecks(options),
      ...queueChecks(options),
      ...storedChecks(options),
    },
    noted: notedCodes,
    // A full Redis degrades a gateway, which refuses records; a worker can claim no frames.
    states: {
      queue_full: () => (isMainFull() ? 'down' : 'degraded'),
      redis_connection: () => (redisProblem() === undefined ? 'degraded' : 'down'),
    },
    log,
    metrics,
  })
}

function insertChecks({ installation, activity, refusals }: Watched): Checks {
  const failing = (failure: FailureKind) =>
    ofQueues((kind) => {
      const { failure: last } = activity(kind)
      return last?.kind === failure ? `inserts of ${kind} fail: ${last.reason}` : undefined
    })
  /** Why ClickHouse cannot be read, if a failure of this kind is the reason; inserts fail alike. */
  const unreachable = (failure: FailureKind) => {
    const error = installation.error()
    const kind = error instanceof ClickHouseError ? error.kind : 'retry'
    return (kind === 'operator') === (failure === 'operator') ? installation.problem() : undefined
  }

  return {
    configuration: installation.difference,
    insert_retry: () => unreachable('retry') ?? failing('retry')(),
    insert_operator: () => unreachable('operator') ?? failing('operator')(),
    insert_split: failing('split'),
    insert_rejected: failing('rejected'),
    insert_stalled: ofQueues((kind) => {
      const { insertMs = 0 } = activity(kind)
      if (insertMs <= insertStalledMs) return undefined
      return `an insert of ${kind} has been running for ${seconds(insertMs / 1_000)}`
    }),
    rows_refused: ofQueues((kind) => (refusals[kind].isLong() ? kind : undefined)),
  }
}

function queueChecks({ backlogs, activity }: Watched): Checks {
  const ofStates = (describe: (state: QueueState, kind: QueueName) => string | undefined) =>
    ofQueues((kind) => {
      // The last known state is out of date; `redis_lost_its_data` is reported instead.
      if (backlogs.isLost()) return undefined
      const state = backlogs.of(kind)
      return state === undefined ? notKnown : describe(state, kind)
    })

  return {
    redis_lost_its_data: () =>
      backlogs.isLost() ? 'Redis is new or has lost its data (see intake setup)' : undefined,
    queue_paused: ofStates(({ isPaused }, kind) => (isPaused ? kind : undefined)),
    frame_postponed: ofStates(({ delayed }, kind) =>
      delayed > 0 ? `frames of ${kind}: ${delayed}` : undefined,
    ),
    backlog: ofStates((state, kind) => describeBacklog(state, kind)),
    worker_stuck: ofStates(({ waitingSeconds }, kind) => {
      const { waitingMs = 0 } = activity(kind)
      return waitingMs > stuckMs && waitingSeconds * 1_000 > stuckMs
        ? `frames of ${kind} wait, and none was taken for ${seconds(waitingMs / 1_000)}`
        : undefined
    }),
  }
}

function storedChecks({ stored, watermark, uptimeMs = () => performance.now() }: Watched): Checks {
  return {
    dead_letters() {
      const { deadLetters } = stored.state() ?? {}
      if (deadLetters === undefined) return notKnown
      const waiting = recordKinds.filter((kind) => deadLetters[kind] > 0)
      return joinDetails(waiting.map((kind) => `${kind}: ${deadLetters[kind]}`))
    },
    watermark() {
      const lateMs = watermark.lateMs()
      if (lateMs >= watermarkLateMs) return `not stored for ${seconds(lateMs / 1_000)}`
      const { visibleUntil } = stored.state() ?? {}
      if (visibleUntil === undefined || uptimeMs() < watermarkShownMs) return undefined
      const missing = recordKinds.filter((kind) => visibleUntil[kind] === undefined)
      return joinDetails(missing.map((kind) => `that of ${kind} is ahead of the clock, or missing`))
    },
  }
}

/** Joins the problems of all queues into one text. */
const ofQueues =
  (describe: (kind: QueueName) => Detail): ProblemCheck =>
  () =>
    joinDetails(queueKinds.map(describe))

function describeBacklog(state: QueueState, kind: QueueName): string | undefined {
  const { rows, oldestAgeSeconds = Infinity, secondsToDrain, isPaused } = state
  const isEmpty = state.waiting + state.active + state.delayed === 0
  if (isEmpty || oldestAgeSeconds < backlogFromSeconds) return undefined
  const age = Number.isFinite(oldestAgeSeconds)
    ? `, the oldest for ${seconds(oldestAgeSeconds)}`
    : ''
  const end = isPaused
    ? 'paused'
    : Number.isFinite(secondsToDrain)
      ? `stored in about ${seconds(secondsToDrain)}`
      : 'not shrinking'
  return `${kind}: ${quantity(rows, 'row waits', 'rows wait')}${age}; ${end}`
}

function seconds(value: number): string {
  return `${Math.round(value)} s`
}
