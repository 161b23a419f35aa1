// Replaces the timers of Hermes' command line, which ignore their delay. These timers run in the
// order of their due times, and set the clock to the due time.
const nextTurn = globalThis.setTimeout
let elapsed = 0
let lastTimer = 0
let timers = []
let isPumping = false

function pump() {
  isPumping = false
  const [next] = timers.sort((a, b) => a.due - b.due || a.id - b.id)
  if (next === undefined) return
  timers = timers.filter((timer) => timer !== next)
  elapsed = next.due
  next.run()
  schedulePump()
}

// Lets many turns pass between two timers, because promises need several turns to settle.
function schedulePump(turns = 3000) {
  if (isPumping || timers.length === 0) return
  isPumping = true
  const wait = (left) => nextTurn(left === 0 ? pump : () => wait(left - 1), 0)
  wait(turns)
}

globalThis.setTimeout = (run, ms) => {
  const id = ++lastTimer
  timers.push({ id, run, due: elapsed + (ms || 0) })
  schedulePump()
  return id
}
globalThis.clearTimeout = (id) => {
  timers = timers.filter((timer) => timer.id !== id)
}

const began = Date.now()
Date.now = () => began + elapsed
