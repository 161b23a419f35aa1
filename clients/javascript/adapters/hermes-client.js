// Runs in the interactive mode of Hermes, after the bundle (the global `Intake`). The process that
// started Hermes calls `receive` by a line of input, and reads what is printed after the mark.
const mark = '@@'

// Escapes all characters that are not ASCII, so that the encoding of the pipe does not matter.
const escaped = (text) =>
  text.replace(/[^ -~]/g, (unit) => `\\u${(unit.charCodeAt(0) + 0x10000).toString(16).slice(1)}`)
const send = (message) => print(mark + escaped(JSON.stringify(message)))

const calls = new Map()
const timers = new Map()
let last = 0

/** Asks the process that started Hermes to run an operation. Resolves to the result. */
const ask = (operation, ...args) =>
  new Promise((resolve, reject) => {
    calls.set(++last, { resolve, reject })
    send({ ask: last, operation, args })
  })

globalThis.setTimeout = (run, ms) => {
  timers.set(++last, run)
  send({ timer: last, ms: ms || 0 })
  return last
}
globalThis.clearTimeout = (id) => {
  if (timers.delete(id)) send({ clear: id })
}
globalThis.FormData = function () {
  this.parts = []
  this.append = (name, value) => void this.parts.push([name, value])
}
globalThis.fetch = (url, { method, headers, body, redirect }) =>
  ask('fetch', url, { method, headers, redirect, body: body.parts || body }).then((response) => ({
    status: response.status,
    text: () => Promise.resolve(response.body),
    headers: { get: (name) => response.headers[name] || null },
  }))

let aheadMs = 0
const now = Date.now
Date.now = () => now() + aheadMs
let client

const methods = {
  init({ aheadMs: ahead, ...options }) {
    aheadMs = ahead
    const storage = {
      getItem: (key) => ask('getItem', key),
      setItem: (key, value) => ask('setItem', key, value),
      removeItem: (key) => ask('removeItem', key),
      getAllKeys: () => ask('getAllKeys'),
    }
    client = Intake.createIntake({ ...options, storage })
  },
  clock: (ms) => void (aheadMs = ms),
  log(event, params) {
    const id = client.log(event, params)
    return client.stored().then(() => ({ id }))
  },
  logs(from, count, event) {
    for (let n = from; n < from + count; n++) client.log(event, { n })
    return client.stored().then(() => ({ stored: count }))
  },
  feedback: (text, email, attachments) => client.feedback({ text, email, attachments }),
  flush: (timeoutMs) => client.flush({ timeoutMs }),
  stats: () => client.stats(),
  optOut: () => client.optOut(),
  optIn: () => client.optIn(),
}

globalThis.receive = (text) => {
  const message = JSON.parse(text)
  if (message.method) {
    Promise.resolve()
      .then(() => methods[message.method](...message.args))
      .then((result) => send({ call: message.call, result }))
      .catch((error) => send({ call: message.call, error: String(error) }))
  } else if (message.timer) {
    const run = timers.get(message.timer)
    timers.delete(message.timer)
    if (run) run()
  } else {
    const { resolve, reject } = calls.get(message.ask)
    calls.delete(message.ask)
    if (message.error === undefined) resolve(message.result)
    else reject(new Error(message.error))
  }
}
