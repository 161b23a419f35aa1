import type { FailureKind } from '@intake/clickhouse'
import { createRate } from '@intake/health'
import { queueNames, type ClaimedFrame, type QueueName } from '@intake/queue'
import { addGauge, metricsOf, systemClock, type Clock, type Registry } from '@intake/runtime'

/** Gets every event of the loops of a worker; the loops call its methods in this order. */
export interface WorkerMetrics {
  waitsForFrames(kind: QueueName): void
  /** Redis refused a command: the loop works, and waits from now on. */
  queueFailed(kind: QueueName): void
  taken(kind: QueueName, frames: readonly ClaimedFrame[]): void
  insertBegan(kind: QueueName): void
  inserted(kind: QueueName, rows: number): void
  failed(kind: QueueName, failure: FailureKind, reason: string): void
  /** Rows of the frame became visible. */
  visible(kind: QueueName, frame: ClaimedFrame): void
  deadLettered(kind: QueueName): void
  postponed(kind: QueueName, frames: number): void
  /** The batch has left the worker. */
  batchEnded(kind: QueueName): void
  unreadable(kind: QueueName): void
  locksLost(kind: QueueName, frames: number): void
  activity(kind: QueueName): Activity
}

/** What the loop of a queue does at this moment. */
export interface Activity {
  /** How long it has been waiting for a frame, without an error; undefined: it has some. */
  waitingMs: number | undefined
  /** How long the insert in progress takes; undefined: there is none. */
  insertMs: number | undefined
  /** The last failure of the batch in hand, or one of the last 15 seconds after which the worker went on. */
  failure: Failure | undefined
  /** Rows stored per second, of the last 15 seconds. */
  storedPerSecond: number
}

interface Failure {
  kind: FailureKind
  /** In words for an operator. */
  reason: string
}

interface Loop {
  waitsSince: number | undefined
  insertSince: number | undefined
  failure: (Failure & { at: number }) | undefined
}

const failureKinds: readonly FailureKind[] = ['retry', 'operator', 'split', 'rejected']
/** The worker goes on at once after these failures: they stay visible for longer than a scrape takes. */
const briefFailures: ReadonlySet<FailureKind> = new Set(['split', 'rejected'])
const briefFailureMs = 15_000
const insertSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const insertRows = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
const visibleSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 43_200]

export function createWorkerMetrics(
  registry: Registry,
  { clock = systemClock, wallMs = () => Date.now() }: { clock?: Clock; wallMs?: () => number } = {},
): WorkerMetrics {
  const { counter, histogram } = metricsOf(registry)
  const kinds = Object.keys(queueNames) as QueueName[]
  const ofKinds = <Value>(make: () => Value) =>
    Object.fromEntries(kinds.map((kind) => [kind, make()])) as Record<QueueName, Value>
  const loops = ofKinds<Loop>(() => ({
    waitsSince: undefined,
    insertSince: undefined,
    failure: undefined,
  }))
  const rates = ofKinds(() => createRate(clock))

  const insertDuration = histogram(
    'intake_insert_duration_seconds',
    'Duration of an insert, by result: stored or failed.',
    ['kind', 'result'],
    insertSeconds,
  )
  const rowsPerInsert = histogram(
    'intake_insert_rows',
    'Rows of an insert that ClickHouse has confirmed.',
    ['kind'],
    insertRows,
  )
  const visibleDelay = histogram(
    'intake_visible_delay_seconds',
    'From the arrival of the oldest record of a frame until all its rows are visible; a redelivered frame counts again.',
    ['kind'],
    visibleSeconds,
  )
  const rows = counter(
    'intake_rows_inserted_total',
    'Rows that ClickHouse has confirmed; a redelivered row counts again.',
    ['kind'],
  )
  const inserts = counter('intake_inserts_total', 'Inserts that ClickHouse has confirmed.', [
    'kind',
  ])
  const failures = counter(
    'intake_insert_failures_total',
    'Inserts that failed, by kind of failure: retry, split, operator or rejected.',
    ['kind', 'failure'],
  )
  const redeliveredFrames = counter(
    'intake_frames_redelivered_total',
    'Frames that were handed out before.',
    ['kind'],
  )
  const redeliveredRows = counter(
    'intake_rows_redelivered_total',
    'Rows of these frames: at most so many duplicates are hidden by FINAL.',
    ['kind'],
  )
  const deadLetters = counter('intake_dead_letters_total', 'Rows that became dead letters.', [
    'kind',
  ])
  const postponed = counter(
    'intake_frames_postponed_total',
    'Frames put back to be retried later: a row failed by itself, or stored feedback could not be announced.',
    ['kind'],
  )
  const unreadable = counter(
    'intake_frames_unreadable_total',
    'Frames of an unknown version or with a wrong checksum; they are kept and retried.',
    ['kind'],
  )
  const locksLost = counter(
    'intake_frame_locks_lost_total',
    'Claimed frames that another worker may have taken over.',
    ['kind'],
  )
  // Prometheus does not see the first increase of a series that begins with it.
  for (const kind of kinds) {
    for (const failure of failureKinds) failures.inc({ kind, failure }, 0)
    const ofKind = [
      redeliveredFrames,
      redeliveredRows,
      deadLetters,
      postponed,
      unreadable,
      locksLost,
    ]
    for (const one of ofKind) one.inc({ kind }, 0)
  }
  const since = (start: number | undefined) =>
    start === undefined ? undefined : clock.now() - start
  addGauge(registry, {
    name: 'intake_insert_in_progress_seconds',
    help: 'How long the insert in progress takes; 0: there is none.',
    labels: ['kind'],
    read: () => kinds.map((kind) => [{ kind }, (since(loops[kind].insertSince) ?? 0) / 1_000]),
  })

  function endInsert(kind: QueueName, result: 'stored' | 'failed'): void {
    const ms = since(loops[kind].insertSince)
    loops[kind].insertSince = undefined
    if (ms !== undefined) insertDuration.observe({ kind, result }, ms / 1_000)
  }

  function endFailure(kind: QueueName): void {
    const { failure } = loops[kind]
    if (failure !== undefined && !briefFailures.has(failure.kind)) loops[kind].failure = undefined
  }

  function failureOf(kind: QueueName): Failure | undefined {
    const { failure } = loops[kind]
    if (failure === undefined) return undefined
    const isOver = briefFailures.has(failure.kind) && clock.now() - failure.at > briefFailureMs
    return isOver ? undefined : failure
  }

  return {
    waitsForFrames: (kind) => void (loops[kind].waitsSince = clock.now()),
    queueFailed(kind) {
      if (loops[kind].waitsSince !== undefined) loops[kind].waitsSince = clock.now()
    },
    taken(kind, frames) {
      loops[kind].waitsSince = undefined
      const repeated = frames.filter(({ attempts }) => attempts > 1)
      redeliveredFrames.inc({ kind }, repeated.length)
      redeliveredRows.inc(
        { kind },
        repeated.reduce((sum, frame) => sum + frame.rows, 0),
      )
    },
    insertBegan: (kind) => void (loops[kind].insertSince = clock.now()),
    inserted(kind, count) {
      endInsert(kind, 'stored')
      endFailure(kind)
      rows.inc({ kind }, count)
      inserts.inc({ kind })
      rowsPerInsert.observe({ kind }, count)
      rates[kind].add(count)
    },
    failed(kind, failure, reason) {
      endInsert(kind, 'failed')
      loops[kind].failure = { kind: failure, reason, at: clock.now() }
      failures.inc({ kind, failure })
    },
    visible(kind, { receivedAtMs }) {
      if (receivedAtMs === undefined) return
      // The clock of this machine may be behind that of the gateway.
      visibleDelay.observe({ kind }, Math.max(0, wallMs() - receivedAtMs) / 1_000)
    },
    deadLettered: (kind) => deadLetters.inc({ kind }),
    postponed: (kind, frames) => postponed.inc({ kind }, frames),
    batchEnded(kind) {
      endFailure(kind)
      loops[kind].insertSince = undefined
    },
    unreadable(kind) {
      unreadable.inc({ kind })
      // The loop claims frames, although it can use none of them.
      if (loops[kind].waitsSince !== undefined) loops[kind].waitsSince = clock.now()
    },
    locksLost: (kind, frames) => locksLost.inc({ kind }, frames),
    activity: (kind) => ({
      waitingMs: since(loops[kind].waitsSince),
      insertMs: since(loops[kind].insertSince),
      failure: failureOf(kind),
      storedPerSecond: rates[kind].perSecond(),
    }),
  }
}
