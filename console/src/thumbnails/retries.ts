import type { Clock } from '@intake/runtime'
import type { UnexaminedFeedback } from './find-feedback.ts'

export interface Work {
  feedback: UnexaminedFeedback
  /** The number of failed attempts, not counting failures of ClickHouse and the object store. */
  failed: number
}

/** The feedback that has to be tried again. */
export interface Retries {
  has(feedback: UnexaminedFeedback): boolean
  add(work: Work, pauseMs: number): void
  remove(feedback: UnexaminedFeedback): void
  /** Returns the feedback that may be tried again now. */
  due(): Work[]
}

export function createRetries(clock: Pick<Clock, 'now'>): Retries {
  const byName = new Map<string, Work & { at: number }>()
  return {
    has: (feedback) => byName.has(nameOf(feedback)),
    add: (work, pauseMs) =>
      void byName.set(nameOf(work.feedback), { ...work, at: clock.now() + pauseMs }),
    remove: (feedback) => void byName.delete(nameOf(feedback)),
    due: () => Array.from(byName.values()).filter(({ at }) => at <= clock.now()),
  }
}

export const nameOf = ({ bundle_identifier, id, device_uuid }: UnexaminedFeedback) =>
  `${id} ${device_uuid} ${bundle_identifier}`
