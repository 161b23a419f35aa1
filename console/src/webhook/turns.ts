import { PostponedDelivery } from '@intake/queue/consume'
import { systemClock, type Clock } from '@intake/runtime'

/** How many requests a receiver gets at once. */
export const requestsMax = 4
const postponeMaxMs = 5 * 60_000

/**
 * Limits the requests to one receiver. A request for which there is no turn is postponed by about as
 * long as the requests of its sender before it take, so that a slow receiver does not occupy the
 * turns of others. While several senders (API keys) wait, each leaves a turn to the others, so one
 * that sends much delays only itself.
 */
export function createTurns(clock: Pick<Clock, 'now'> = systemClock) {
  const taken: string[] = []
  let durationMs = 100
  /** When the request of each sender that was postponed last gets its turn. */
  const nextMs = new Map<string, number>()

  function hasTurn(sender: string, nowMs: number): boolean {
    if (taken.length === requestsMax) return false
    const own = taken.filter((one) => one === sender).length
    if (own < requestsMax - 1) return true
    for (const [one, ms] of nextMs) if (one !== sender && ms > nowMs) return false
    return true
  }

  /** @throws {PostponedDelivery} while there is no turn for the sender */
  function requireTurn(sender: string): void {
    const now = clock.now()
    if (hasTurn(sender, now)) return
    for (const [one, ms] of nextMs) if (ms <= now) nextMs.delete(one)
    // The remainder distributes the requests evenly when more wait than can be sent in time.
    const waitMs = Math.max(0, (nextMs.get(sender) ?? 0) - now)
    const aheadMs = (waitMs + durationMs / requestsMax) % postponeMaxMs
    nextMs.set(sender, now + aheadMs)
    throw new PostponedDelivery(Math.ceil(aheadMs))
  }

  return {
    requireTurn,
    async take<Result>(sender: string, work: () => Promise<Result>): Promise<Result> {
      requireTurn(sender)
      taken.push(sender)
      const from = clock.now()
      try {
        return await work()
      } finally {
        taken.splice(taken.indexOf(sender), 1)
        durationMs = clock.now() - from
      }
    },
  }
}
