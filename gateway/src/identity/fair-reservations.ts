import { limits } from '@intake/contract'
import { createRoundRobin } from '@intake/http-edge'
import type { IdempotencyStore } from '@intake/identity'
import { queueError } from '@intake/queue/error'
import { systemClock, withTimeout, type Clock } from '@intake/runtime'

/** Two of the largest batches, so that the next batch is sent while Redis executes one. */
const atOnceMax = 2 * limits.batchEntries

/**
 * Limits the reservations that wait for Redis at the same time. Further ones wait here, in rotation
 * of their API keys.
 *
 * Redis executes commands in the order in which they arrive. Without the limit, all commands would
 * wait for the thousands of one API key. On a slow Redis each of these would exceed the timeout of
 * an attempt, and the next attempts would make the queue in Redis even longer.
 */
export function createFairReservations(
  store: IdempotencyStore,
  clock: Clock = systemClock,
): IdempotencyStore {
  /** Each begins a reservation; returns false if it is not wanted any more. */
  const waiting = createRoundRobin<() => boolean>()
  let atOnce = 0

  async function awaitTurn(account: string, deadline: number): Promise<void> {
    let isLate = false
    let isBegun = false
    const turn = new Promise<void>((resolve) => {
      waiting.add(account, () => {
        if (isLate) return false
        isBegun = true
        resolve()
        return true
      })
    })
    try {
      await withTimeout(turn, deadline - clock.now(), 'waiting to reserve a key', clock)
    } catch (cause) {
      isLate = true
      if (isBegun) passOn()
      throw queueError(cause)
    }
  }

  function passOn(): void {
    for (let begin = waiting.next(); begin !== undefined; begin = waiting.next()) {
      if (begin()) return
    }
    atOnce--
  }

  return {
    async reserve(reservation, deadline) {
      if (atOnce < atOnceMax) atOnce++
      else await awaitTurn(reservation.apiKeyId, deadline)
      try {
        return await store.reserve(reservation, deadline)
      } finally {
        passOn()
      }
    },
  }
}
