import { createRoundRobin } from './round-robin.ts'

/** Passes a request on, now or soon. */
export type Dispatch = (account: string, serve: () => void) => void

/**
 * Passes requests on at once while there are few in one turn of the event loop. Beyond `perTurn` they
 * wait and accounts take turns: a sender with a thousand requests at once delays its own, not those of
 * others.
 *
 * @param options.perTurn maximum requests in one turn of the event loop
 */
export function createFairDispatch({ perTurn }: { perTurn: number }): Dispatch {
  const waiting = createRoundRobin<() => void>()
  let served = 0
  let isTurnCounted = false

  function startTurn(): void {
    isTurnCounted = false
    served = 0
    while (served < perTurn) {
      const serve = waiting.next()
      if (serve === undefined) return
      count()
      serve()
    }
  }

  function count(): void {
    served++
    if (isTurnCounted) return
    isTurnCounted = true
    setImmediate(startTurn)
  }

  return (account, serve) => {
    if (served < perTurn && waiting.isEmpty()) {
      count()
      serve()
    } else {
      waiting.add(account, serve)
    }
  }
}
