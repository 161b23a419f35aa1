import { dayMs, limits } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { DecoderMissingError } from './decoder-process.ts'
import { examineFeedback, type ExamineOptions } from './examine-feedback.ts'
import { findUnexamined, type Arrival, type UnexaminedFeedback } from './find-feedback.ts'

/**
 * How often, and how many days back, feedback is looked for that no worker has examined when it
 * arrived: because a worker was killed, or ran without thumbnails.
 */
const catchUp = { everyMs: 60 * 60_000, days: 30 }
/** The pauses before the next attempts for a picture that failed. Then it gets its error. */
const pausesMs = [60_000, 10 * 60_000]
/**
 * The pause after ClickHouse or the object store failed for one feedback. Its object alone may be at
 * fault, for example because it was archived.
 */
const failurePauseMs = 10 * 60_000
/** After so many failures in a row nothing more is tried, because the store itself fails. */
const failuresMax = 3
/** After this time it is looked again for what has arrived, so that newer pictures do not wait. */
const turnMs = 10_000

type Work = Pick<Retry, 'feedback' | 'failed'>
interface Retry {
  feedback: UnexaminedFeedback
  /** The number of attempts that said something about the picture. */
  failed: number
  /** When it is due, in milliseconds of `clock.now()`. */
  at: number
}

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
  const { reader, clock, wallMs, isClosed, onError } = options
  /** The arrival of the oldest feedback that has to be looked for, since 1970. */
  let sinceMs = Infinity
  /** The days that are left to catch up with, the latest first. */
  let days: Arrival[] = []
  let catchUpAt = clock.now()
  /** What failed, by its identity. */
  const retries = new Map<string, Retry>()
  /** What has been examined since the last pause: a replica may not have its facts yet. */
  const done = new Set<string>()

  async function examine(feedback: UnexaminedFeedback, failed: number): Promise<void> {
    const pauseMs = pausesMs[failed]
    const isLastAttempt = pauseMs === undefined
    const isDone = await examineFeedback(feedback, { ...options, isLastAttempt })
    const name = nameOf(feedback)
    done.add(name)
    if (isDone || isLastAttempt) retries.delete(name)
    else retries.set(name, { feedback, failed: failed + 1, at: clock.now() + pauseMs })
  }

  /** Examines as many as fit into a turn. */
  async function takeTurn(list: readonly Work[]): Promise<void> {
    const endAt = clock.now() + turnMs
    let failures = 0
    for (const { feedback, failed } of list) {
      if (isClosed() || clock.now() >= endAt) return
      try {
        await examine(feedback, failed)
        failures = 0
      } catch (error) {
        if (isClosed()) return
        if (error instanceof DecoderMissingError) throw error
        retries.set(nameOf(feedback), { feedback, failed, at: clock.now() + failurePauseMs })
        if (++failures === failuresMax) throw error
        onError(error)
      }
    }
  }

  /** Examines for a turn what arrived then. Resolves to false if there is nothing. */
  async function examineArrived(arrival: Arrival): Promise<boolean> {
    const found = await findUnexamined(reader, arrival)
    const list = found
      .filter((feedback) => !retries.has(nameOf(feedback)) && !done.has(nameOf(feedback)))
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
      // More may have been added in the meantime. After an error it is looked for again.
      if (mayBeMore) sinceMs = Math.min(sinceMs, fromMs)
    }
  }

  async function examineDay(): Promise<void> {
    const [day] = days
    if (day !== undefined && !(await examineArrived(day))) days = days.slice(1)
  }

  /** Examines for a turn what failed earlier and is due. Resolves to false if nothing is. */
  async function examineDue(): Promise<boolean> {
    const due = Array.from(retries.values()).filter(({ at }) => at <= clock.now())
    await takeTurn(due)
    return due.length > 0
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
      done.clear()
      let isDue = true
      while (!isClosed() && (isDue || days.length > 0 || Number.isFinite(sinceMs))) {
        await examineNew()
        isDue = await examineDue()
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

const nameOf = ({ bundle_identifier, id, device_uuid }: UnexaminedFeedback) =>
  `${id} ${device_uuid} ${bundle_identifier}`
