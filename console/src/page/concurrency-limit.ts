import type { FastifyReply } from 'fastify'
import pLimit from 'p-limit'
import { PageError } from './page-error.ts'

export function createConcurrencyLimit(max: { atOnce: number; waitingMax: number }) {
  const limit = pLimit(max.atOnce)
  return {
    /**
     * Runs `work` when a place is free. The place is taken until the work has settled, also if the
     * reader leaves early, and the response has been sent or its connection is closed.
     *
     * @throws {PageError} 503, when too many wait, or the reader has left before a place was free
     */
    async run<T>(reply: Pick<FastifyReply, 'raw'>, work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= max.waitingMax)
        throw new PageError(503, 'Too many requests at once.')
      return new Promise((resolve, reject) => {
        void limit(async () => {
          if (reply.raw.closed) {
            reject(new PageError(503, 'The connection is closed.'))
            return
          }
          const closed = new Promise<void>((end) => onceClosed(reply, end))
          // `then` calls `work`, so that `working` rejects even if `work` throws before it returns
          // a promise.
          const working = Promise.resolve().then(work)
          working.then(resolve, reject)
          await Promise.allSettled([working, closed])
        })
      })
    },
  }
}

/** Calls `end` once the response has been sent or its connection is gone. */
function onceClosed({ raw }: Pick<FastifyReply, 'raw'>, end: () => void): void {
  if (raw.closed) end()
  else raw.once('close', end)
}

export function cutOffAfter(timeoutMs: number, reply: Pick<FastifyReply, 'raw'>): void {
  const timer = setTimeout(() => reply.raw.destroy(), timeoutMs)
  onceClosed(reply, () => clearTimeout(timer))
}
