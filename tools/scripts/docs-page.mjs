// Renders the page that every gateway serves at GET /docs: documents of docs/ and the fields of the
// OpenAPI document, as one HTML page without a script.
import { Marked } from 'marked'

/**
 * Renders the page as HTML.
 *
 * @param {{ name: string, text: string }[]} documents Markdown, with file names, in the order of
 *   the page
 * @param {object} openApi the OpenAPI document
 */
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

/**
 * Returns the same anchor for a heading as a Git forge does. So the same links work on this page
 * and in the Markdown files.
 */
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
        return `<pre tabindex="0"><code>${escape(code)}\n</code></pre>\n`
      },
      table({ header, rows }) {
        const cells = (row, tag) =>
          row.map(
            ({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag.split(' ')[0]}>`,
          )
        const lines = rows.map((row) => `<tr>${cells(row, 'td').join('')}</tr>\n`)
        return (
          `<div class="scroll" tabindex="0"><table>\n<thead><tr>${cells(header, 'th scope="col"').join('')}</tr></thead>\n` +
          `<tbody>\n${lines.join('')}</tbody></table></div>\n`
        )
      },
      html: ({ text: markup }) => {
        if (/^<!--[^]*-->\s*$/.test(markup)) return ''
        throw new Error(`markup in ${name}: ${markup}`)
      },
    },
  })
  return marked.parse(text, { async: false })
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
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><h1>Intake</h1>
<p>Accepts user feedback and application log events. For generators: <a href="openapi.json">openapi.json</a>.</p></header>
<nav aria-label="Contents"><ul>
${entries.join('')}</ul></nav>
<main id="main">
${body}</main>
</body>
</html>
`
}

const style = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 0 1rem 4rem; }
header { border-bottom: 1px solid var(--line); padding: 1rem 0 .5rem; }
header p { margin: .25rem 0 .5rem; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { border-bottom: 1px solid var(--line); font-size: 1.5rem; margin: 3rem 0 1rem; padding-bottom: .25rem; }
section:first-child h2 { margin-top: 1rem; }
h3 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
a { color: LinkText; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
nav ul { columns: 16rem; list-style: none; margin: 1rem 0; padding: 0; }
nav li { font-size: .9rem; padding: .15rem 0 .15rem 1rem; }
nav .top { break-after: avoid; font-weight: 600; padding-left: 0; }
main { min-width: 0; overflow-wrap: anywhere; }
code { background: var(--soft); border-radius: .2rem; font: .875em/1.4 ui-monospace, monospace; padding: .1em .25em; }
pre { background: var(--soft); border-radius: .5rem; overflow-x: auto; overflow-wrap: normal; padding: .75rem 1rem; }
pre code { background: none; padding: 0; }
li { margin: .25rem 0; }
.scroll { margin: 1rem 0; overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th, td { border-bottom: 1px solid var(--line); min-width: 6rem; padding: .35rem .75rem .35rem 0; text-align: start; vertical-align: top; }
.skip { left: -100rem; position: absolute; }
.skip:focus { left: 1rem; top: .5rem; }
@media (min-width: 60rem) {
  body { display: grid; gap: 0 3rem; grid-template-columns: 15rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; }
  nav { align-self: start; max-height: 100vh; overflow-y: auto; position: sticky; top: 0; }
  nav ul { columns: auto; }
}
@media (max-width: 60rem) { nav li:not(.top) { display: none; } }
@media print { nav { display: none; } }
`
