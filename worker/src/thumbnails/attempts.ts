import type { Clock } from '@intake/runtime'
import { examineFeedback, type ExamineOptions } from './examine-feedback.ts'
import type { UnexaminedFeedback } from './find-feedback.ts'

/** The pauses before the next attempts for a picture that failed. Then it gets its error. */
const pausesMs = [60_000, 10 * 60_000]
/** After this time it is looked again for what has arrived, so that newer pictures do not wait. */
const turnMs = 10_000

export interface AttemptOptions extends ExamineOptions {
  clock: Clock
  isClosed: () => boolean
}

/**
 * Examines feedback, and what failed again after a pause. Failed attempts are forgotten when the
 * worker ends.
 */
export function createAttempts(options: AttemptOptions) {
  const { clock, isClosed } = options
  /** What failed, by its identity. */
  const retries = new Map<string, { feedback: UnexaminedFeedback; failed: number; at: number }>()
  /** What has been examined, by its identity: a replica may not have its facts yet. */
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
  async function takeTurn(
    list: readonly { feedback: UnexaminedFeedback; failed: number }[],
  ): Promise<boolean> {
    const endAt = clock.now() + turnMs
    for (const { feedback, failed } of list) {
      if (isClosed() || clock.now() >= endAt) break
      await examine(feedback, failed)
    }
    return list.length > 0
  }

  return {
    /** Examines new ones of these for a turn. Resolves to false if there were none. */
    examineNew(found: readonly UnexaminedFeedback[]): Promise<boolean> {
      const isNew = (name: string) => !retries.has(name) && !done.has(name)
      const list = found.filter((feedback) => isNew(nameOf(feedback)))
      return takeTurn(list.map((feedback) => ({ feedback, failed: 0 })))
    },

    /** Examines for a turn what failed earlier and is due. Resolves to false if nothing was. */
    examineDue: (): Promise<boolean> =>
      takeTurn(Array.from(retries.values()).filter(({ at }) => at <= clock.now())),

    /** Forgets what has been examined, so that it is new if it is found once more. */
    forgetDone: () => done.clear(),
  }
}

const nameOf = ({ bundle_identifier, id, device_uuid }: UnexaminedFeedback) =>
  `${id} ${device_uuid} ${bundle_identifier}`
