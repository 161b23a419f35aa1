import pLimit from 'p-limit'
import { PageError } from './page-error.ts'

/** Limits work that uses memory: how much of it may run at once, and how much may wait. */
export interface ConcurrencyLimit {
  /**
   * Waits for a free place. Resolves to a function that the caller must call when the work is done.
   *
   * @throws {PageError} 503, when too many wait
   */
  enter(): Promise<() => void>
}

export function createConcurrencyLimit({
  atOnce,
  waitingMax,
}: {
  atOnce: number
  waitingMax: number
}): ConcurrencyLimit {
  const limit = pLimit(atOnce)
  return {
    async enter() {
      if (limit.pendingCount >= waitingMax) throw new PageError(503, 'Too many requests at once.')
      return new Promise((resolve) => {
        void limit(() => new Promise<void>((end) => resolve(end)))
      })
    },
  }
}
