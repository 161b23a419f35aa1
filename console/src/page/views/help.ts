import { Marked, type Tokens } from 'marked'
import { followHelp } from '../help-pages.ts'
import { html, trusted, type Html } from '../html.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'

/** A page of the documentation, which is part of this version: no reader or client can write it. */
export function helpView(header: Header, name: string, markdown: string): Html {
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
  const body = marked.parse(markdown, { async: false })
  return document({
    header,
    title: 'Help',
    heading: trusted(title),
    crumbs: html`<a href="/help/operations/README">Operations</a>`,
    body: html`<article class="card help">${trusted(body)}</article>`,
  })
}

/** The anchor of a heading, as a Git forge makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
