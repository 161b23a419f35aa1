import type { FastifyReply } from 'fastify'
import pLimit from 'p-limit'
import { onceClosed } from './end-of-response.ts'
import { PageError } from './page-error.ts'

/** Limits work that uses memory: how much of it may run at once, and how much may wait. */
export interface ConcurrencyLimit {
  /**
   * Runs `work` when it is its turn, and returns its result. The turn ends when the work has
   * settled and its response has been sent or its connection is gone: a reader who leaves does not
   * let another one begin while the work goes on.
   *
   * @throws {PageError} 503, when too many wait, or the reader has left before the turn
   */
  run<T>(reply: Pick<FastifyReply, 'raw'>, work: () => Promise<T>): Promise<T>
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
    async run(reply, work) {
      if (limit.pendingCount >= waitingMax) throw new PageError(503, 'Too many requests at once.')
      return new Promise((resolve, reject) => {
        void limit(async () => {
          if (reply.raw.closed) {
            reject(new PageError(503, 'The connection is closed.'))
            return
          }
          const closed = new Promise<void>((end) => onceClosed(reply, end))
          const working = work()
          working.then(resolve, reject)
          await Promise.allSettled([working, closed])
        })
      })
    },
  }
}
