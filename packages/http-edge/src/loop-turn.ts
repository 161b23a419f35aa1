/**
 * Creates a function that returns a number for the current turn of the event loop. Only turns with
 * a call are counted, so that an idle process is not woken.
 */
export function createLoopTurn(): () => number {
  let turn = 0
  let isCounted = false

  function end(): void {
    turn++
    isCounted = false
  }

  return () => {
    if (!isCounted) {
      isCounted = true
      setImmediate(end)
    }
    return turn
  }
}
