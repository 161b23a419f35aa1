// The script of the live view: every two seconds it reads the events that have arrived.
const rows = document.getElementById('rows')
const state = document.getElementById('state')
const held = document.getElementById('held')
const button = document.getElementById('pause')
const kept = 200
const seenMax = 1000
// The links of a row contain the event's id, device and application, which together identify it.
const identity = (row) =>
  [...row.querySelectorAll('a')].map((link) => link.getAttribute('href')).join(' ')
const seen = new Set([...rows.children].map(identity))
let since = document.getElementById('live').dataset.since
let paused = false
let wait = 2000
let polls = 0
let waiting = []

function show() {
  rows.prepend(...waiting)
  waiting = []
  while (rows.children.length > kept) rows.lastElementChild.remove()
}
function tell(text) {
  if (state.textContent !== text) state.textContent = text
  held.hidden = waiting.length === 0
  held.textContent = `${waiting.length} new, show`
}
async function ask() {
  if (document.hidden) return
  const url = new URL('/live/rows', location.href)
  url.search = location.search
  url.searchParams.set('since', since)
  if (++polls % 10 === 0) url.searchParams.set('besides', '')
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(8000) })
    const template = document.createElement('template')
    template.innerHTML = await response.text()
    const fresh = template.content.querySelector('.fresh')
    if (fresh) document.querySelector('.fresh').replaceWith(fresh)
    // The response to a failed poll may be a whole document.
    if (!response.ok) throw new Error(String(response.status))
    // A part beside the rows is not replaced while somebody uses it.
    for (const part of template.content.querySelectorAll('[id]')) {
      const old = document.getElementById(part.id)
      if (old.querySelector(':focus, details[open]')) part.remove()
      else old.replaceWith(part)
    }
    const found = [...template.content.children].filter((row) => {
      const key = identity(row)
      const isNew = !seen.delete(key)
      seen.add(key)
      return isNew
    })
    // Forgets the oldest rows: a poll returns the newest events, so it does not return these again.
    for (const key of seen) if (seen.size > seenMax) seen.delete(key)
    since = response.headers.get('x-since') ?? since
    wait = 2000
    waiting = [...found, ...waiting].slice(0, kept)
    // Rows must not move while somebody reads them.
    const isOpen = rows.querySelector('details[open]') !== null
    if (!paused && !isOpen) show()
    const live = response.headers.get('x-state') ?? 'Live'
    tell(paused ? 'Paused' : isOpen ? 'Held: a row is open' : live)
  } catch {
    wait = Math.min(wait * 2, 60000)
    tell(`No answer, next try in ${wait / 1000} s`)
  }
}
held.addEventListener('click', () => {
  show()
  held.hidden = true
})
button.hidden = false
button.addEventListener('click', () => {
  paused = !paused
  button.textContent = paused ? 'Resume' : 'Pause'
  if (!paused) show()
  tell(paused ? 'Paused' : 'Live')
})
const loop = () => {
  void ask().finally(() => setTimeout(loop, wait))
}
setTimeout(loop, wait)
