// The script of every view: keys for what links and fields also do. Without it the page works, too.
const field = (target) => target.closest('input, textarea, select, [contenteditable]')
const find = document.getElementById('q')
const zone = document.getElementById('tz')
// Without a choice of the reader, times are in UTC, and the field offers the reader's zone.
if (zone && zone.placeholder !== 'UTC')
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone

// A picture opens large, over the page.
const pictures = [...document.querySelectorAll('.big .pics a')].filter((link) =>
  link.querySelector('img'),
)
const frame = document.getElementById('large')
let shown = 0
function show(index) {
  shown = (index + pictures.length) % pictures.length
  const [image, small] = [frame, pictures[shown]].map((element) => element.querySelector('img'))
  image.src = small.src
  image.alt = small.alt
  frame.querySelector('output').textContent = `${shown + 1} of ${pictures.length}`
  if (!frame.open) frame.showModal()
}
for (const [index, link] of pictures.entries())
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    show(index)
  })
frame?.addEventListener('click', () => frame.close())

addEventListener('keydown', (event) => {
  const { key, target } = event
  if (event.ctrlKey || event.metaKey || event.altKey || field(target)) return
  if (frame?.open) {
    if (key === 'ArrowLeft') show(shown - 1)
    if (key === 'ArrowRight') show(shown + 1)
  } else if (key === '/') {
    event.preventDefault()
    find.select()
  } else {
    const menu = key === 'Escape' && document.querySelector('.apps[open] > summary')
    const one = menu || document.querySelector(`a[data-key="${CSS.escape(key)}"]`)
    if (menu) menu.focus()
    one?.click()
  }
})
