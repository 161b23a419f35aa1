import { Marked, type Tokens } from 'marked'
import { followHelp, readHelp } from '../help-pages.ts'
import { html, trusted } from '../html.ts'
import { PageError } from '../page-error.ts'
import { document } from '../views/document.ts'
import type { ViewContext } from './context.ts'

/** `GET /help/<name>`: the documentation, also while ClickHouse is away. */
export function helpRoutes({ view }: ViewContext): void {
  view(
    '/help/*',
    async ({ params, header }) => {
      const name = params['*'] ?? ''
      const page = await readHelp(name)
      if (page === undefined)
        throw new PageError(404, 'There is no such page in the documentation of this installation.')
      const { title, body } = print(name, page)
      return document({
        header,
        title: 'Help',
        heading: trusted(title),
        crumbs: html`<a href="/help/operations/README">Operations</a>`,
        body: html`<article class="card help">${trusted(body)}</article>`,
      })
    },
    { isUrgent: true },
  )
}

/** A page of the documentation is part of this version: no reader or client can write it. */
function print(name: string, markdown: string): { title: string; body: string } {
  let title = ''
  const marked = new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        const content = this.parser.parseInline(tokens)
        if (depth > 1) return `<h${depth} id="${anchorOf(text)}">${content}</h${depth}>`
        title = content
        return ''
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const path = followHelp(name, href)
        return path === undefined
          ? content
          : html`<a href="${path}">${trusted(content)}</a>`.toString()
      },
      tablecell({ header: isHead, tokens }) {
        const tag = isHead ? 'th' : 'td'
        return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`
      },
      code: ({ text }: Tokens.Code) => html`<pre tabindex="0">${text}</pre>`.toString(),
      html: () => '',
      image: () => '',
    },
  })
  return { body: marked.parse(markdown, { async: false }), title }
}

/** The anchor of a heading, as a Git forge makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
