import { limits } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { createCatchUp } from './catch-up.ts'
import type { ExamineOptions } from './examine-feedback.ts'
import { findUnexamined, type Arrival, type UnexaminedFeedback } from './find-feedback.ts'
import { createRetries, nameOf } from './retries.ts'
import { createTurns } from './turns.ts'

/** How many rows the first query for a turn may return. */
const pageRows = 200

/**
 * The feedback whose pictures have to be examined. Each worker has its own list. A worker reads
 * from ClickHouse which feedback has no facts yet. Failed attempts are forgotten when the worker
 * ends.
 */
export function createWorkList(
  options: ExamineOptions & {
    clock: Clock
    wallMs: () => number
    onError: (error: unknown) => void
  },
) {
  const { reader, clock, isClosed } = options
  /**
   * The arrival time, in milliseconds since 1970, from which new feedback must be looked for;
   * Infinity if there is none.
   */
  let sinceMs = Infinity
  const catchUp = createCatchUp(options)
  const retries = createRetries(clock)
  /**
   * The names of feedback examined in this run of `examineAll`. Such feedback is skipped, even if
   * ClickHouse does not show its facts yet.
   */
  const done = new Set<string>()
  const takeTurn = createTurns({ ...options, retries, done })

  const isKnown = (one: UnexaminedFeedback) => retries.has(one) || done.has(nameOf(one))

  /** Examines unknown feedback of this period for one turn. Resolves to false if there is none. */
  async function examineArrived(arrival: Arrival): Promise<boolean> {
    const list = await findWork(arrival, { reader, isKnown })
    await takeTurn(list.map((feedback) => ({ feedback, failed: 0 })))
    return list.length > 0
  }

  async function examineNew(): Promise<void> {
    const fromMs = sinceMs
    if (!Number.isFinite(fromMs)) return
    sinceMs = Infinity
    let mayBeMore = true
    try {
      mayBeMore = await examineArrived({ fromMs, toMs: limits.recordTimeMs.before })
    } finally {
      // Reads the same period again after an error, or if it may contain more feedback.
      if (mayBeMore) sinceMs = Math.min(sinceMs, fromMs)
    }
  }

  async function examineDay(): Promise<void> {
    const day = catchUp.day()
    if (day !== undefined && !(await examineArrived(day))) catchUp.finishDay()
  }

  /**
   * Examines, for one turn, feedback that failed earlier and is due. Resolves to false if none is
   * due.
   */
  async function examineDue(): Promise<boolean> {
    const due = retries.due()
    await takeTurn(due)
    return due.length > 0
  }

  return {
    /** Adds all feedback that arrived since `receivedAtMs`, in milliseconds since 1970. */
    addSince(receivedAtMs: number): void {
      sinceMs = Math.min(sinceMs, receivedAtMs)
    },

    /** Examines what was added or is due. Rejects when ClickHouse or the object store fails. */
    async examineAll(): Promise<void> {
      catchUp.refill()
      done.clear()
      let isDue = true
      while (!isClosed() && (isDue || catchUp.day() !== undefined || Number.isFinite(sinceMs))) {
        await examineNew()
        await examineDay()
        // Retries come last, because three consecutive failures end `examineAll`. Feedback that
        // came after the retries might never be examined.
        isDue = await examineDue()
      }
    },
  }
}

/**
 * Finds feedback of this period that `isKnown` does not exclude. Excluded feedback can fill the
 * result of a query. So the query is repeated with twice the rows, until at most half of them are
 * excluded or the period has no more.
 */
async function findWork(
  arrival: Arrival,
  options: Pick<ExamineOptions, 'reader'> & { isKnown: (one: UnexaminedFeedback) => boolean },
): Promise<UnexaminedFeedback[]> {
  for (let rows = pageRows; ; rows *= 2) {
    const found = await findUnexamined(options.reader, arrival, rows)
    const list = found.filter((one) => !options.isKnown(one))
    if (found.length < rows || list.length >= rows / 2) return list
  }
}
