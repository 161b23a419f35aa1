import type { IncomingMessage } from 'node:http'
import { createRoundRobin } from './round-robin.ts'

/**
 * The maximum number of requests served in a turn of the event loop, if the turn before accepted a
 * connection. With a maximum of one, a client that keeps opening connections would halve the
 * throughput of a busy gateway. With four, nine tenths of the throughput remain.
 */
const afterConnecting = 4

/** Decides when a request whose head has arrived is served. */
export type Gate = ReturnType<typeof createFairGate>

/**
 * Creates a gate that serves at most `perTurn` requests in a turn of the event loop. Further
 * requests wait for a later turn. Waiting requests are served in rotation: one of the first account
 * (API key), one of the second, and so on. So a sender with a thousand simultaneous requests delays
 * only its own requests.
 *
 * Node accepts one connection in a turn. After a turn in which it accepted one, only
 * `afterConnecting` requests are served, because more clients may be waiting to be connected.
 *
 * @param options.accountOf returns the account of a request; called only for a request that waits
 */
export function createFairGate(options: {
  perTurn: number
  accountOf: (request: IncomingMessage) => string
}) {
  const { perTurn, accountOf } = options
  const waiting = createRoundRobin<() => void>()
  let served = 0
  let max = perTurn
  let isTurnCounted = false

  function startTurn(): void {
    isTurnCounted = false
    served = 0
    const maxNow = max
    max = perTurn
    while (served < maxNow && waiting.accounts.size > 0) {
      served++
      awaitTurn()
      waiting.next()?.()
    }
  }

  function awaitTurn(): void {
    if (isTurnCounted) return
    isTurnCounted = true
    setImmediate(startTurn)
  }

  return {
    connected(): void {
      max = Math.min(perTurn, afterConnecting)
      awaitTurn()
    },
    /** Returns whether one more request may be served now; if so, counts it as served. */
    enter(): boolean {
      if (served >= max || waiting.accounts.size > 0) return false
      served++
      awaitTurn()
      return true
    },
    /** Queues a request for which `enter` returned false. */
    wait: (request: IncomingMessage, serve: () => void) => waiting.add(accountOf(request), serve),
  }
}
