import { dayMs, limits } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { DecoderMissingError } from './decoder-process.ts'
import { examineFeedback, type ExamineOptions } from './examine-feedback.ts'
import { findUnexamined, type Arrival, type UnexaminedFeedback } from './find-feedback.ts'

/** Of the first query for a turn. */
const pageRows = 200
/** The duration of a turn, unless a feedback takes longer. Pictures that arrive meanwhile wait. */
const turnMs = 10_000
/** The pauses before the second and third attempt. If the third one fails, its error is stored. */
const pausesMs = [60_000, 10 * 60_000]
/**
 * The pause after ClickHouse or the object store failed for one feedback. Its object alone may be
 * at fault, for example because it was archived.
 */
const failurePauseMs = 10 * 60_000
/** After so many in a row, nothing more is tried until the next poll: the service itself fails. */
const failuresMax = 3
/** So often the last days are searched for feedback that no console has examined at its arrival. */
const catchUpMs = 60 * 60_000
const daysBack = 30

interface Work {
  feedback: UnexaminedFeedback
  /** The number of failed attempts, not counting failures of ClickHouse and the object store. */
  failed: number
  /** When it may be tried. */
  at: number
}

type Options = ExamineOptions & {
  clock: Clock
  onError: (error: unknown) => void
}

/** Examines feedback in turns, and knows what has to be tried again. */
function createTurns(options: Options) {
  const { clock, isClosed, onError } = options
  /** What has to be tried again, by name. */
  const waiting = new Map<string, Work>()
  /** What was examined in this run, whose facts ClickHouse may not show yet, by name. */
  const done = new Set<string>()

  async function examine({ feedback, failed }: Work): Promise<void> {
    const pauseMs = pausesMs[failed]
    const isLastAttempt = pauseMs === undefined
    const isDone = await examineFeedback(feedback, { ...options, isLastAttempt })
    const name = nameOf(feedback)
    done.add(name)
    if (isDone || isLastAttempt) waiting.delete(name)
    else waiting.set(name, { feedback, failed: failed + 1, at: clock.now() + pauseMs })
  }

  return {
    begin: () => done.clear(),
    isKnown: (one: UnexaminedFeedback) => waiting.has(nameOf(one)) || done.has(nameOf(one)),
    due: () => [...waiting.values()].filter(({ at }) => at <= clock.now()),

    /**
     * Examines as many feedback as fit into a turn. Each API key gets an equal part of it, and what
     * a feedback takes beyond that does not count: slow pictures of one key delay no others.
     */
    async take(list: readonly Work[]): Promise<void> {
      const keyOf = ({ feedback }: Work) => feedback.api_key_id
      const partMs = turnMs / new Set(list.map(keyOf)).size
      const usedMs = new Map<string, number>()
      let failures = 0
      for (const work of list) {
        const key = keyOf(work)
        const usedBefore = usedMs.get(key) ?? 0
        if (isClosed()) return
        if (usedBefore >= partMs) continue
        const from = clock.now()
        try {
          await examine(work)
          failures = 0
        } catch (error) {
          if (isClosed()) return
          if (error instanceof DecoderMissingError) throw error
          waiting.set(nameOf(work.feedback), { ...work, at: clock.now() + failurePauseMs })
          if (++failures === failuresMax) throw error
          onError(error)
        }
        usedMs.set(key, usedBefore + clock.now() - from)
      }
    },
  }
}

/**
 * The feedback whose pictures have to be examined. Each console has its own list. It reads from
 * ClickHouse which feedback has no facts yet. Failed attempts are forgotten when the console ends.
 */
export function createWorkList(options: Options) {
  const { reader, clock, isClosed } = options
  const turns = createTurns(options)
  /** From when on feedback has arrived that must be looked for; Infinity if none has. */
  let sinceMs = Infinity
  /** The same for the next `examineAll`, because the replica that is read may lag. */
  let againSinceMs = Infinity
  /** The days of the last 30 that have to be searched, the latest first. */
  let days: Arrival[] = []
  let daysListedAt = clock.now() - catchUpMs

  /**
   * Known feedback can fill the result of a query. So the query is repeated with twice the rows,
   * until at most half of them are known or the period has no more.
   */
  async function findWork(arrival: Arrival): Promise<UnexaminedFeedback[]> {
    for (let rows = pageRows; ; rows *= 2) {
      const found = await findUnexamined(reader, arrival, rows)
      const list = found.filter((one) => !turns.isKnown(one))
      if (found.length < rows || list.length >= rows / 2) return list
    }
  }

  /** Examines feedback of this period for one turn. Resolves to false if there is none. */
  async function examineArrived(arrival: Arrival): Promise<boolean> {
    const list = await findWork(arrival)
    await turns.take(list.map((feedback) => ({ feedback, failed: 0, at: 0 })))
    return list.length > 0
  }

  async function examineNew(): Promise<void> {
    const fromMs = sinceMs
    if (fromMs === Infinity) return
    sinceMs = Infinity
    let mayBeMore = true
    try {
      mayBeMore = await examineArrived({ fromMs, toMs: limits.recordTimeMs.before })
    } finally {
      // Reads the same period again after an error, or if it may contain more feedback.
      if (mayBeMore) sinceMs = Math.min(sinceMs, fromMs)
    }
  }

  return {
    /** Adds all feedback that arrived since `receivedAtMs`, in milliseconds since 1970. */
    addSince(receivedAtMs: number): void {
      sinceMs = Math.min(sinceMs, receivedAtMs)
      againSinceMs = Math.min(againSinceMs, receivedAtMs)
    },

    /** Examines what was added or is due. Rejects when ClickHouse or the object store fails. */
    async examineAll(): Promise<void> {
      if (clock.now() - daysListedAt >= catchUpMs) {
        daysListedAt = clock.now()
        days = lastDays(Date.now())
      }
      turns.begin()
      let due: Work[] = []
      do {
        await examineNew()
        const [day] = days
        if (day !== undefined && !(await examineArrived(day))) days.shift()
        // Retries come last, because three failures in a row end `examineAll`: what came after
        // them might never be examined.
        due = turns.due()
        await turns.take(due)
      } while (!isClosed() && (due.length > 0 || days.length > 0 || sinceMs !== Infinity))
      sinceMs = againSinceMs
      againSinceMs = Infinity
    },
  }
}

const nameOf = ({ bundle_identifier, id, device_uuid }: UnexaminedFeedback) =>
  `${id} ${device_uuid} ${bundle_identifier}`

/** The first day begins at `nowMs`, for feedback from gateways whose clocks are ahead. */
const lastDays = (nowMs: number): Arrival[] =>
  Array.from({ length: daysBack + 1 }, (_, day) => {
    const fromMs = nowMs - day * dayMs
    return { fromMs, toMs: fromMs + dayMs }
  })
