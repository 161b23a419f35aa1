import { dayMs, limits } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import type { ExamineOptions } from './examine-feedback.ts'
import { findUnexamined, type Arrival } from './find-feedback.ts'
import { createRetries, nameOf } from './retries.ts'
import { createTurns } from './turns.ts'

/**
 * How often, and how many days back, the worker looks for feedback that no worker examined when it
 * arrived, because the worker was killed or ran without thumbnails.
 */
const catchUp = { everyMs: 60 * 60_000, days: 30 }

/**
 * The feedback whose pictures have to be examined. Workers do not share a list: which feedback has
 * no facts yet is read from ClickHouse, and failed attempts are forgotten when the worker ends.
 */
export function createWorkList(
  options: ExamineOptions & {
    clock: Clock
    wallMs: () => number
    onError: (error: unknown) => void
  },
) {
  const { reader, clock, wallMs, isClosed } = options
  /**
   * Feedback that arrived since this time (in ms since 1970) must be looked for; Infinity for none.
   */
  let sinceMs = Infinity
  /** The days that are left to catch up with, the latest first. */
  let days: Arrival[] = []
  let catchUpAt = clock.now()
  const retries = createRetries(clock)
  /** The feedback examined since the last pause. A replica may not have its facts yet. */
  const done = new Set<string>()
  const takeTurn = createTurns({ ...options, retries, done })

  /** Examines, for one turn, feedback of this period. Resolves to false if there is none. */
  async function examineArrived(arrival: Arrival): Promise<boolean> {
    const found = await findUnexamined(reader, arrival, retries.count())
    const list = found
      .filter((feedback) => !retries.has(feedback) && !done.has(nameOf(feedback)))
      .map((feedback) => ({ feedback, failed: 0 }))
    await takeTurn(list)
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
      // More feedback may have been added. After an error, the same is looked for again.
      if (mayBeMore) sinceMs = Math.min(sinceMs, fromMs)
    }
  }

  async function examineDay(): Promise<void> {
    const [day] = days
    if (day !== undefined && !(await examineArrived(day))) days = days.slice(1)
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

    /** Examines what has been added or is due. Rejects when ClickHouse or the store fails. */
    async examineAll(): Promise<void> {
      if (clock.now() >= catchUpAt) {
        catchUpAt = clock.now() + catchUp.everyMs
        days = lastDays(wallMs())
      }
      done.clear()
      let isDue = true
      while (!isClosed() && (isDue || days.length > 0 || Number.isFinite(sinceMs))) {
        await examineNew()
        await examineDay()
        // Comes last, because what fails again and again would prevent what follows it.
        isDue = await examineDue()
      }
    },
  }
}

function lastDays(nowMs: number): Arrival[] {
  // The first period begins now and ends in the future, because the clocks of gateways may be
  // ahead.
  return Array.from({ length: catchUp.days + 1 }, (_, day) => {
    const fromMs = nowMs - day * dayMs
    return { fromMs, toMs: fromMs + dayMs }
  })
}
