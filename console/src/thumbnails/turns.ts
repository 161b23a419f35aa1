import type { Clock } from '@intake/runtime'
import { DecoderMissingError } from './decoder-process.ts'
import { examineFeedback, type ExamineOptions } from './examine-feedback.ts'
import { nameOf, type Retries, type Work } from './retries.ts'

/**
 * The pauses before the second and the third attempt for a picture. If the third attempt fails, the
 * error is stored.
 */
const pausesMs = [60_000, 10 * 60_000]
/**
 * The pause after ClickHouse or the object store failed for one feedback. The object of this
 * feedback alone may be at fault, for example because it was archived.
 */
const failurePauseMs = 10 * 60_000
/**
 * After this many consecutive failures, ClickHouse or the object store itself counts as failed.
 * Nothing more is tried until the next poll.
 */
const failuresMax = 3
/** The maximum duration of a turn. Pictures that arrive meanwhile wait until its end. */
const turnMs = 10_000

/**
 * Creates the function that examines as many feedback as fit into a turn.
 *
 * @param options.done the set to which the names (`nameOf`) of examined feedback are added
 * @param options.onError called when ClickHouse or the object store failed for one feedback
 */
export function createTurns(
  options: ExamineOptions & {
    clock: Clock
    retries: Retries
    done: Set<string>
    onError: (error: unknown) => void
  },
): (list: readonly Work[]) => Promise<void> {
  const { clock, retries, done, isClosed, onError } = options

  async function examine({ feedback, failed }: Work): Promise<void> {
    const pauseMs = pausesMs[failed]
    const isLastAttempt = pauseMs === undefined
    const isDone = await examineFeedback(feedback, { ...options, isLastAttempt })
    done.add(nameOf(feedback))
    if (isDone || isLastAttempt) retries.remove(feedback)
    else retries.add({ feedback, failed: failed + 1 }, pauseMs)
  }

  return async (list) => {
    const endAt = clock.now() + turnMs
    let failures = 0
    for (const work of list) {
      if (isClosed() || clock.now() >= endAt) return
      try {
        await examine(work)
        failures = 0
      } catch (error) {
        if (isClosed()) return
        if (error instanceof DecoderMissingError) throw error
        retries.add(work, failurePauseMs)
        if (++failures === failuresMax) throw error
        onError(error)
      }
    }
  }
}
