import { createIntake } from './client.js'

const find = (selector) => document.querySelector(selector)
const lines = find('#lines')
let intake

/** Writes a line about what became of a record. */
function say(text) {
  const line = document.createElement('li')
  line.textContent = `${new Date().toLocaleTimeString()} ${text}`
  lines.prepend(line)
}

/** Shows what waits, and why sending has stopped: for example `origin_not_allowed`. */
function show() {
  const { pending, stopped } = intake.stats()
  const { logs, feedback } = pending
  find('#waiting').textContent = `${logs} log events, ${feedback} feedback`
  find('#sending').textContent = stopped ? `stopped: ${stopped}` : 'works'
}

async function flush() {
  await intake.flush()
  show()
}

find('#settings').addEventListener('submit', async (event) => {
  event.preventDefault()
  const { url, apiKey } = Object.fromEntries(new FormData(event.target))
  await intake?.shutdown()
  intake = createIntake({
    url,
    apiKey,
    bundleIdentifier: 'com.example.web',
    onDrop: (reason, count) => say(`${count} given up: ${reason}`),
  })
  for (const button of document.querySelectorAll('button')) button.disabled = false
  intake.log('page_opened', { path: location.pathname })
  await flush()
  say(intake.stats().stopped ? 'the gateway refuses this key' : 'connected: page_opened is stored')
})

find('#events').addEventListener('click', async ({ target }) => {
  const { event } = target.dataset
  if (event === undefined) return
  intake.log(event, { at: Date.now() })
  await flush()
  say(`${event} logged`)
})

find('#feedback').addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const { text, picture } = Object.fromEntries(new FormData(form))
  await intake.feedback({ text, attachments: picture.size > 0 ? [picture] : [] })
  await flush()
  say('feedback sent')
  form.reset()
})
