import { PostponedDelivery } from '@intake/queue/consume'

/** How many requests a receiver gets at once. */
export const requestsMax = 4
const postponeMaxMs = 5 * 60_000

/**
 * Limits the requests to one receiver. A request for which there is no turn is postponed by about as
 * long as the requests before it take, so that a slow receiver does not occupy the turns of others.
 */
export function createTurns() {
  let taken = 0
  let durationMs = 100
  /** When the request that was postponed last gets its turn. */
  let nextMs = 0

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const now = performance.now()
    if (taken === requestsMax) {
      // The remainder distributes the requests evenly when more wait than can be sent in time.
      const aheadMs = (Math.max(0, nextMs - now) + durationMs / requestsMax) % postponeMaxMs
      nextMs = now + aheadMs
      throw new PostponedDelivery(Math.ceil(aheadMs))
    }
    taken++
    try {
      return await work()
    } finally {
      taken--
      durationMs = performance.now() - now
    }
  }
}
