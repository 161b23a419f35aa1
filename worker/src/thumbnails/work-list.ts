import { dayMs, limits } from '@intake/contract'
import { createAttempts, type AttemptOptions } from './attempts.ts'
import { findUnexamined, type Arrival } from './find-feedback.ts'

/**
 * How often, and how many days back, feedback is looked for that no worker has examined when it
 * arrived: because a worker was killed, or ran without thumbnails.
 */
const catchUp = { everyMs: 60 * 60_000, days: 30 }

/**
 * The feedback whose pictures have to be examined. The list itself has only times of arrival: which
 * feedback of them has no facts yet is read from ClickHouse, for every turn again.
 */
export function createWorkList(options: AttemptOptions & { wallMs: () => number }) {
  const { reader, clock, wallMs, isClosed } = options
  const attempts = createAttempts(options)
  /** The arrival of the oldest feedback that has to be looked for, since 1970. */
  let sinceMs = Infinity
  /** The days that are left to catch up with, the latest first. */
  let days: Arrival[] = []
  let catchUpAt = clock.now()

  /** Examines for a turn what arrived then. Resolves to false if there was nothing. */
  async function examineArrived(arrival: Arrival): Promise<boolean> {
    return attempts.examineNew(await findUnexamined(reader, arrival))
  }

  async function examineAdded(): Promise<void> {
    const fromMs = sinceMs
    if (!Number.isFinite(fromMs)) return
    sinceMs = Infinity
    let mayBeMore = true
    try {
      mayBeMore = await examineArrived({ fromMs, toMs: limits.recordTimeMs.before })
    } finally {
      // More may have been added in the meantime. After an error it is looked for again.
      if (mayBeMore) sinceMs = Math.min(sinceMs, fromMs)
    }
  }

  async function examineDay(): Promise<void> {
    const [day] = days
    if (day !== undefined && !(await examineArrived(day))) days = days.slice(1)
  }

  return {
    /** Adds all feedback that arrived since then, in milliseconds since 1970. */
    addSince(receivedAtMs: number): void {
      sinceMs = Math.min(sinceMs, receivedAtMs)
    },

    /** Examines what has been added or is due. Rejects when ClickHouse or the store fails. */
    async examineAll(): Promise<void> {
      if (clock.now() >= catchUpAt) {
        catchUpAt = clock.now() + catchUp.everyMs
        days = lastDays(wallMs())
      }
      attempts.forgetDone()
      let isDue = true
      while (!isClosed() && (isDue || days.length > 0 || Number.isFinite(sinceMs))) {
        await examineAdded()
        isDue = await attempts.examineDue()
        await examineDay()
      }
    },
  }
}

function lastDays(nowMs: number): Arrival[] {
  // The first of them begins now, because the clocks of gateways may be ahead.
  return Array.from({ length: catchUp.days + 1 }, (_, day) => {
    const fromMs = nowMs - day * dayMs
    return { fromMs, toMs: fromMs + dayMs }
  })
}
