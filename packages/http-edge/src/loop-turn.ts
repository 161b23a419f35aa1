/**
 * Creates a function that returns a number for the current turn of the event loop. Turns without a
 * call are not counted, because counting them would wake an idle process.
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
