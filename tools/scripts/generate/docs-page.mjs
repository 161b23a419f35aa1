// Renders the page that every gateway serves at GET /docs: documents of docs/ and the fields of the
// OpenAPI document, as one HTML page. Its script marks the section that is read, and copies examples.
import { Marked } from 'marked'

/** Renders documents (Markdown, in the order of the page) and an OpenAPI document as HTML. */
export function docsPage(documents, openApi) {
  const sections = [...documents]
  sections.splice(1, 0, { name: 'fields.md', text: fieldsSection(openApi) })
  const anchors = new Set(sections.flatMap(({ text }) => headingsOf(text).map(anchorOf)))
  const toc = []
  const bodies = sections.map(({ name, text }) => {
    const anchor = anchorOf(headingsOf(text)[0])
    const links = new Map(sections.map((one) => [one.name, anchorOf(headingsOf(one.text)[0])]))
    return `<section aria-labelledby="${anchor}">\n${render(text, { links, anchors, toc, name })}</section>\n`
  })
  return page({ toc, body: bodies.join('') })
}

const headingsOf = (text) =>
  [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^##? (.*)$/gm)].map(([, title]) => title)

/** A Git forge makes the same anchors, so links work here and in the Markdown files. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const escape = (text) => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

function render(text, { links, anchors, toc, name }) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const anchor = anchorOf(title)
        if (toc.some((entry) => entry.anchor === anchor)) throw new Error(`two ${title}: ${name}`)
        const content = this.parser.parseInline(tokens)
        toc.push({ anchor, depth, content })
        return `<h${depth + 1} id="${anchor}">${content}</h${depth + 1}>\n`
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const [file, anchor] = href.split('#')
        const target = anchor ?? links.get(file)
        // A link to another document becomes text. A person who can reach a gateway may not be
        // allowed to read that document.
        if (!anchors.has(target) || (file !== '' && !links.has(file))) return content
        return `<a href="#${target}">${content}</a>`
      },
      code({ text: code }) {
        return `<div class="code"><pre tabindex="0"><code>${escape(code)}\n</code></pre></div>\n`
      },
      table({ header, rows }) {
        const cells = (row, tag, labels = []) =>
          row.map(({ tokens }, index) => {
            const label = index > 0 && labels[index] ? ` data-label="${escape(labels[index])}"` : ''
            return `<${tag}${label}>${this.parser.parseInline(tokens)}</${tag.split(' ')[0]}>`
          })
        const labels = header.map(({ text: label }) => label)
        const lines = rows.map((row) => `<tr>${cells(row, 'td', labels).join('')}</tr>\n`)
        return (
          `<div class="scroll" tabindex="0"><table>\n<thead><tr>${cells(header, 'th scope="col"').join('')}</tr></thead>\n` +
          `<tbody>\n${lines.join('')}</tbody></table></div>\n`
        )
      },
      html: ({ text: markup }) => {
        if (/^<!-- (end of )?tabs -->\s*$/.test(markup)) return markup
        if (/^<!--[^]*-->\s*$/.test(markup)) return ''
        throw new Error(`markup in ${name}: ${markup}`)
      },
    },
  })
  return marked
    .parse(text, { async: false })
    .replace(/<!-- tabs -->\s*([^]*)<!-- end of tabs -->\s*/, (_, sections) => tabs(sections))
}

/** Shows one of several sections, each with a heading that chooses it, also without the script. */
const tabs = (sections) => {
  const items = sections.split(/(?=<h3 )/).map((section, index) => {
    const [, heading, rest] = /^(<h3 .*<\/h3>)\s*([^]*)$/.exec(section)
    return `<details name="language"${index === 0 ? ' open' : ''}><summary>${heading.replace('The client for ', '')}</summary>\n${rest}</details>\n`
  })
  return `<div class="tabs">\n${items.join('')}</div>\n`
}

function fieldsSection({ components: { schemas } }) {
  const { LogSubmission, LogEvent, Device, Feedback, LogEntryResult, AttachmentResult, Problem } =
    schemas
  const typed = (schema) => {
    const { type, format, items, maxLength } = schema.$ref ? resolve(schema) : schema
    const kind = type === 'array' ? `array of ${typed(items)}s` : (format ?? type)
    return maxLength === undefined ? kind : `${kind}, at most ${maxLength} characters`
  }
  const resolve = ({ $ref }) => schemas[$ref.split('/').at(-1)]
  const table = ({ properties, required = [] }, isSent) => {
    const rows = Object.entries(properties).map(([name, schema]) => {
      const { description = '' } = schema.$ref ? { ...resolve(schema), ...schema } : schema
      const need = isSent && required.includes(name) ? '**Required.** ' : ''
      return `| \`${name}\` | ${typed(schema)} | ${need}${description} |`
    })
    return `| Field | Type | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
  }
  return `# Fields

Every request begins with the fields of its sender. \`null\` means absent, and unknown fields are kept.

${table(LogSubmission, true)}
\`POST /api/log/batch\` has a list \`logs\` of such events instead of \`log\`, and the payload of feedback has \`feedback\`.

## Fields of an event

${table(LogEvent, true)}
## Fields of feedback

${table(Feedback, true)}
## Fields of the device

None is required.

${table(Device, true)}
## Results of a batch

${table(LogEntryResult, false)}
## Results of attachments

${table(AttachmentResult, false)}
## Error responses

\`application/problem+json\`:

${table(Problem, false)}`
}

function page({ toc, body }) {
  const entries = toc.map(
    ({ anchor, depth, content }) =>
      `<li${depth > 1 ? '' : ' class="top"'}><a href="#${anchor}">${content}</a></li>\n`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Intake: send feedback and log events</title>
<style>${style}</style>
<script type="module">${script}</script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><h1><svg viewBox="0 0 20 20" width="22" height="22" aria-hidden="true"><path d="M3 2.5h14v10.5H9l-6 5z"/></svg>Intake</h1>
<p>Accepts user feedback and application log events. For generators: <a href="openapi.json">openapi.json</a>.</p></header>
<nav aria-label="Contents"><ul>
${entries.join('')}</ul></nav>
<main id="main">
${body}</main>
</body>
</html>
`
}

/** A module, so that it runs when the document has been read. */
const script = `
for (const code of navigator.clipboard ? document.querySelectorAll('.code') : []) {
  const button = document.createElement('button')
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.querySelector('pre').textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2000)
  })
  code.append(button)
}
const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link]))
const seen = new IntersectionObserver((entries) => {
  const [last] = entries.filter((entry) => entry.isIntersecting).slice(-1)
  if (!last) return
  for (const link of links.values()) link.removeAttribute('aria-current')
  const link = links.get(decodeURIComponent(last.target.id))
  link?.setAttribute('aria-current', 'true')
  link?.scrollIntoView({ block: 'nearest' })
}, { rootMargin: '0px 0px -70% 0px' })
for (const heading of document.querySelectorAll('section > [id]')) seen.observe(heading)
`

const style = `
:root { color-scheme: light dark; --ground: light-dark(#f7f7f8, #101114); --text: light-dark(#18191d, #e9eaee); --card: light-dark(#fff, #191b20); --mute: light-dark(#5b5f6b, #a4a9b6); --line: light-dark(#e0e2e7, #30343d); --soft: light-dark(#eeeff2, #24272e); --link: light-dark(#2452b5, #8db2ff); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; margin: 0 auto; max-width: 82rem; padding: 0 1.25rem 4rem; }
header { align-items: center; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 0 1.5rem; min-height: 3.25rem; }
header p { color: var(--mute); font-size: .875rem; margin: 0; }
h1 { align-items: center; display: flex; font-size: 1.0625rem; gap: .5rem; margin: 0; }
h1 path { fill: var(--link); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin: 1rem 0; padding: 0 1.25rem 1rem; }
h2 { font-size: 1.375rem; margin: 1rem 0; }
h3 { font-size: 1.0625rem; margin: 2rem 0 .5rem; }
a { color: var(--link); text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; }
nav ul { list-style: none; margin: 1rem 0; padding: 0; }
nav a { border-radius: .3rem; color: var(--mute); display: block; font-size: .8125rem; padding: .2rem .5rem .2rem 1.25rem; text-decoration: none; }
nav .top a { color: var(--text); font-weight: 600; padding-left: .5rem; }
nav a:hover { text-decoration: underline; }
nav a[aria-current] { background: var(--soft); color: var(--link); }
main { min-width: 0; overflow-wrap: anywhere; }
p, ul, ol { max-width: 48rem; }
code { background: var(--soft); border-radius: .25rem; font: .8125rem/1.5 ui-monospace, monospace; padding: .1em .3em; }
pre { background: var(--soft); border-radius: .5rem; margin: .75rem 0; overflow-x: auto; overflow-wrap: normal; padding: .75rem 1rem; }
pre code { background: none; padding: 0; }
li { margin: .25rem 0; }
.code { position: relative; }
.code button { background: var(--card); border: 1px solid var(--line); border-radius: .3rem; color: var(--text); cursor: pointer; font: .75rem system-ui, sans-serif; padding: .2rem .5rem; position: absolute; right: .5rem; top: .5rem; }
.tabs { border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; padding-bottom: .5rem; }
.tabs details { display: contents; }
.tabs details::details-content { display: block; order: 1; width: 100%; }
.tabs details:not([open])::details-content { display: none; }
summary { color: var(--mute); cursor: pointer; list-style: none; padding: .5rem .75rem; }
summary::-webkit-details-marker { display: none; }
summary h3 { font-size: .875rem; margin: 0; }
[open] > summary { border-bottom: 3px solid var(--link); color: var(--text); }
.scroll { margin: 1rem 0; overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th { color: var(--mute); font-size: .78125rem; font-weight: 500; }
th, td { border-bottom: 1px solid var(--line); min-width: 6rem; padding: .35rem .75rem .35rem 0; text-align: start; vertical-align: top; }
.skip { left: -100rem; position: absolute; }
.skip:focus { left: 1rem; top: .5rem; }
@media (min-width: 60rem) {
  body { display: grid; gap: 0 2rem; grid-template-columns: 15rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; }
  nav { align-self: start; max-height: 100vh; overflow-y: auto; position: sticky; top: 0; }
}
@media (max-width: 60rem) { nav li:not(.top) { display: none; } nav ul { display: flex; flex-wrap: wrap; margin: .5rem 0; } nav a { padding: .6rem .5rem; } }
@media (max-width: 46rem) {
  body { padding: 0 .875rem 3rem; }
  section { padding: 0 .875rem 1rem; }
  thead { clip-path: inset(50%); display: block; height: 1px; overflow: hidden; position: absolute; width: 1px; }
  tr { border-bottom: 1px solid var(--line); display: block; padding: .4rem 0; }
  td { border: 0; display: block; overflow-wrap: anywhere; padding: .1rem 0; }
  td[data-label]:not(:empty)::before { color: var(--mute); content: attr(data-label) ': '; font-size: .78125rem; }
}
@media print { nav { display: none; } }
`
