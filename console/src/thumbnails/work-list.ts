import { dayMs, hourMs, minuteMs } from '@intake/contract'
import { ageDays } from '@intake/records'
import type { Clock } from '@intake/runtime'
import { DecoderMissingError } from './decoder-process.ts'
import { examineFeedback, type ExamineOptions } from './examine-feedback.ts'
import { findUnexamined, type Span, type UnexaminedFeedback } from './find-feedback.ts'

/** The duration of a turn, unless a feedback takes longer. Pictures that arrive meanwhile wait. */
const turnMs = 10_000
/** Of the query for a turn, without feedback that must not be tried yet. */
const pageRows = 200
/** So many attempts at a picture may fail. The error of the last one is stored. */
const attemptsMax = 3
/** The pause after a failure. It may be that of an object, for example because it was archived. */
const retryMs = 10 * minuteMs
/** So long a replica that is read may not have the facts that were stored. */
const lagMs = minuteMs
/** After so many failures in a row, nothing more is tried until the next poll: the service fails. */
const failuresMax = 3
/** The maximum number of feedback that is remembered. If half of it is, no attempt is repeated. */
const triedMax = 1_000
const recentMs = hourMs
/** So often the last days are searched for feedback that no console has examined at its arrival. */
const catchUpMs = hourMs
const daysBack = 30

type Options = ExamineOptions & {
  clock: Clock
  onError: (error: unknown) => void
}

/**
 * Returns a function that examines the pictures of all feedback that has no facts yet. It rejects
 * when ClickHouse or the object store fails. Which feedback that is, is read from ClickHouse. Failed
 * attempts are forgotten when the console ends.
 */
export function createWorkList(options: Options): () => Promise<void> {
  const { reader, clock, isClosed, onError } = options
  /** What was tried, by name: how many attempts have failed, and until when it is not tried. */
  const tried = new Map<string, { failed: number; untilMs: number }>()
  let catchUpAtMs = clock.now()
  let failuresInARow = 0
  const failedOf = (one: UnexaminedFeedback) => tried.get(nameOf(one))?.failed ?? 0

  /** @throws {Error} if ClickHouse or the object store fails repeatedly */
  async function attempt(feedback: UnexaminedFeedback): Promise<void> {
    const name = nameOf(feedback)
    const failed = failedOf(feedback)
    const isLastAttempt = failed + 1 >= attemptsMax || tried.size >= triedMax / 2
    const retry = () => tried.set(name, { failed: failed + 1, untilMs: clock.now() + retryMs })
    try {
      const isDone = await examineFeedback(feedback, { ...options, isLastAttempt })
      if (isDone) tried.set(name, { failed: 0, untilMs: clock.now() + lagMs })
      else retry()
      failuresInARow = 0
    } catch (error) {
      if (isClosed()) return
      retry()
      if (error instanceof DecoderMissingError || ++failuresInARow >= failuresMax) throw error
      onError(error)
    }
  }

  /**
   * Examines as many feedback as fit into a turn. Each API key gets an equal part of it, and what
   * a feedback takes beyond that does not count: slow pictures of one key delay no others.
   */
  async function takeTurn(list: readonly UnexaminedFeedback[]): Promise<void> {
    const partMs = turnMs / new Set(list.map((one) => one.api_key_id)).size
    const usedMs = new Map<string, number>()
    for (const feedback of list) {
      const used = usedMs.get(feedback.api_key_id) ?? 0
      if (isClosed()) return
      if (used >= partMs) continue
      const from = clock.now()
      await attempt(feedback)
      usedMs.set(feedback.api_key_id, used + clock.now() - from)
    }
  }

  /** Failed attempts are known until the next search of the last days, if there is room for them. */
  function forget(): void {
    const failedMs = tried.size < triedMax ? 2 * catchUpMs : 0
    for (const [name, { failed, untilMs }] of tried)
      if (untilMs + (failed > 0 ? failedMs : 0) <= clock.now()) tried.delete(name)
  }

  return async () => {
    const isCatchUp = clock.now() >= catchUpAtMs
    if (isCatchUp) catchUpAtMs = clock.now() + catchUpMs
    const days = new Set(isCatchUp ? lastDays() : [])
    failuresInARow = 0
    while (!isClosed()) {
      forget()
      if (tried.size >= triedMax) return
      const due = new Map<string, UnexaminedFeedback>()
      for (const span of [recent(), ...days]) {
        if (isClosed()) return
        const found = await findUnexamined(reader, span, triedMax + pageRows)
        const list = found.filter((one) => (tried.get(nameOf(one))?.untilMs ?? 0) <= clock.now())
        if (list.length === 0) days.delete(span)
        for (const one of list) due.set(nameOf(one), one)
      }
      if (due.size === 0) return
      // What failed comes last, so that it delays nothing however often it fails.
      await takeTurn([...due.values()].toSorted((a, b) => failedOf(a) - failedOf(b)))
    }
  }
}

const recent = (): Span => {
  const now = Date.now()
  const arrivedFromMs = now - recentMs
  return {
    fromMs: arrivedFromMs - ageDays('feedback') * dayMs,
    beforeMs: now + dayMs,
    arrivedFromMs,
  }
}

/** The days of all feedback that arrived in the last days: one query for all needs too much memory. */
const lastDays = (): Span[] => {
  const now = Date.now()
  return Array.from({ length: daysBack + ageDays('feedback') + 1 }, (_, index) => ({
    fromMs: now - index * dayMs,
    beforeMs: now - (index - 1) * dayMs,
    arrivedFromMs: now - daysBack * dayMs,
  }))
}

const nameOf = ({ bundle_identifier, id, device_uuid }: UnexaminedFeedback) =>
  `${id} ${device_uuid} ${bundle_identifier}`
