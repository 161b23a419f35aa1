import type { FailureKind } from '@intake/clickhouse'
import { createRate } from '@intake/health'
import type { Clock } from '@intake/runtime'

/** The current work of a queue's loop. */
export interface Activity {
  /** How long the loop waits for a frame, since the last error; undefined if it has one. */
  waitingMs: number | undefined
  /** How long the insert in progress has been running; undefined if there is none. */
  insertMs: number | undefined
  /**
   * The last failure of the current batch. After `split` or `rejected` the worker continues at
   * once, so a scrape would rarely find them: they are shown for 15 seconds.
   */
  failure: Failure | undefined
  /** Rows stored per second over the last 15 seconds. */
  storedPerSecond: number
}

interface Failure {
  kind: FailureKind
  /** The reason, in words for an operator. */
  reason: string
}

/** Shown for longer than the interval between two scrapes, as the worker continues at once. */
const briefFailures: ReadonlySet<FailureKind> = new Set(['split', 'rejected'])
const briefFailureMs = 15_000

/** The state of the loop of one queue, derived from its events. */
export function createLoopState(clock: Clock) {
  const rate = createRate(clock)
  let waitsSince: number | undefined
  let insertSince: number | undefined
  let failure: (Failure & { at: number }) | undefined

  const since = (start: number | undefined) =>
    start === undefined ? undefined : clock.now() - start

  function endFailure(): void {
    if (failure !== undefined && !briefFailures.has(failure.kind)) failure = undefined
  }

  function presentFailure(): Failure | undefined {
    if (failure === undefined) return undefined
    const isOver = briefFailures.has(failure.kind) && clock.now() - failure.at > briefFailureMs
    return isOver ? undefined : failure
  }

  return {
    waits: () => void (waitsSince = clock.now()),
    /** Called when the loop is alive without frames: if it waits for some, the wait begins anew. */
    waitsAnew() {
      if (waitsSince !== undefined) waitsSince = clock.now()
    },
    took: () => void (waitsSince = undefined),
    insertBegan: () => void (insertSince = clock.now()),
    /** Returns how many milliseconds the insert took; undefined if none was in progress. */
    insertEnded() {
      const ms = since(insertSince)
      insertSince = undefined
      return ms
    },
    stored(rows: number) {
      endFailure()
      rate.add(rows)
    },
    failed: (kind: FailureKind, reason: string) =>
      void (failure = { kind, reason, at: clock.now() }),
    batchEnded() {
      endFailure()
      insertSince = undefined
    },
    activity: (): Activity => ({
      waitingMs: since(waitsSince),
      insertMs: since(insertSince),
      failure: presentFailure(),
      storedPerSecond: rate.perSecond(),
    }),
  }
}
