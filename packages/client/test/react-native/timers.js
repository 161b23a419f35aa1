// The timers of Hermes' command line ignore their delay. These keep the order of their due times, and
// the clock follows them.
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

// Promises need several turns to settle.
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
