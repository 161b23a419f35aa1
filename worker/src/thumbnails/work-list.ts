import { dayMs } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { examineFeedback, type ExamineOptions } from './examine-feedback.ts'
import { findUnexamined, type UnexaminedFeedback } from './find-feedback.ts'

/**
 * Feedback that no worker has examined, because a worker was killed or ran without thumbnails, is
 * looked for at this interval, and this far back.
 */
const catchUp = { everyMs: 60 * 60_000, backMs: 30 * dayMs }
/**
 * The pauses before the next attempts for a picture that failed. After the last attempt its error
 * is stored.
 */
const pausesMs = [60_000, 10 * 60_000]

/**
 * Creates the list of the feedback whose pictures must be examined. It contains a time since when
 * feedback must be looked for in ClickHouse, and the feedback whose pictures must be tried again.
 */
export function createWorkList(
  options: ExamineOptions & { clock: Clock; wallMs: () => number; isClosed: () => boolean },
) {
  const { reader, clock, wallMs, isClosed } = options
  /**
   * Feedback that arrived at or after this time must be looked for: milliseconds since 1970;
   * `Infinity` for none.
   */
  let sinceMs = Infinity
  let catchUpAt = clock.now()
  const retries = new Map<string, { feedback: UnexaminedFeedback; failed: number; at: number }>()

  async function examine(feedback: UnexaminedFeedback, failed: number): Promise<void> {
    const pauseMs = pausesMs[failed]
    const isLastAttempt = pauseMs === undefined
    const isDone = await examineFeedback(feedback, { ...options, isLastAttempt })
    if (isDone || isLastAttempt) retries.delete(feedback.id)
    else retries.set(feedback.id, { feedback, failed: failed + 1, at: clock.now() + pauseMs })
  }

  /**
   * Examines the feedback that arrived since `fromMs`. After an error, this feedback is looked for
   * again.
   */
  async function examineSince(fromMs: number): Promise<void> {
    try {
      for await (const feedback of findUnexamined(reader, new Date(fromMs))) {
        if (isClosed()) return
        if (!retries.has(feedback.id)) await examine(feedback, 0)
      }
    } catch (error) {
      sinceMs = Math.min(sinceMs, fromMs)
      throw error
    }
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
        sinceMs = Math.min(sinceMs, wallMs() - catchUp.backMs)
      }
      // More feedback may be added while this runs.
      while (Number.isFinite(sinceMs)) {
        const fromMs = sinceMs
        sinceMs = Infinity
        await examineSince(fromMs)
      }
      for (const { feedback, failed, at } of Array.from(retries.values())) {
        if (at <= clock.now() && !isClosed()) await examine(feedback, failed)
      }
    },
  }
}
