import { marked, type Token, type Tokens } from 'marked'
import { followHelp } from '../help-pages.ts'
import { html, type Html, type HtmlValue } from '../html.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'

/** A page of the documentation. */
export function helpView(header: Header, name: string, markdown: string): Html {
  const print = (tokens: readonly Token[] = []): HtmlValue =>
    tokens.map((token) => printers[token.type]?.(token as never) ?? '')
  const cells = (tag: 'th' | 'td', row: readonly Tokens.TableCell[]) =>
    row.map(({ tokens }) =>
      tag === 'th' ? html`<th>${print(tokens)}</th>` : html`<td>${print(tokens)}</td>`,
    )
  // Only what is printed here is shown; anything else in a page, such as markup, is left out.
  const printers: Readonly<Record<string, (token: never) => HtmlValue>> = {
    heading: ({ depth, text, tokens }: Tokens.Heading) =>
      depth === 1
        ? undefined
        : depth === 2
          ? html`<h2 id="${anchorOf(text)}">${print(tokens)}</h2>`
          : html`<h3 id="${anchorOf(text)}">${print(tokens)}</h3>`,
    paragraph: ({ tokens }: Tokens.Paragraph) => html`<p>${print(tokens)}</p>`,
    blockquote: ({ tokens }: Tokens.Blockquote) => html`<div>${print(tokens)}</div>`,
    list: ({ ordered, items }: Tokens.List) => {
      const listed = items.map(({ tokens }) => html`<li>${print(tokens)}</li>`)
      return ordered
        ? html`<ol>
            ${listed}
          </ol>`
        : html`<ul>
            ${listed}
          </ul>`
    },
    table: ({ header: head, rows }: Tokens.Table) =>
      html`<div class="scroll" role="region" aria-label="Table" tabindex="0">
        <table>
          <thead>
            <tr>
              ${cells('th', head)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (row) =>
                html`<tr>
                  ${cells('td', row)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`,
    code: ({ text }: Tokens.Code) => html`<pre tabindex="0">${text}</pre>`,
    codespan: ({ text }: Tokens.Codespan) => html`<code>${text}</code>`,
    strong: ({ tokens }: Tokens.Strong) => html`<b>${print(tokens)}</b>`,
    em: ({ tokens }: Tokens.Em) => html`<i>${print(tokens)}</i>`,
    link: ({ href, tokens }: Tokens.Link) => {
      const path = followHelp(name, href)
      return path === undefined ? print(tokens) : html`<a href="${path}">${print(tokens)}</a>`
    },
    text: ({ text, tokens }: Tokens.Text) => (tokens === undefined ? text : print(tokens)),
    escape: ({ text }: Tokens.Escape) => text,
  }
  const tokens = marked.lexer(markdown)
  const title = tokens.find((token) => token.type === 'heading') as Tokens.Heading | undefined
  return document({
    header,
    title: 'Help',
    heading: print(title?.tokens),
    crumbs: html`<a href="/help/operations/README">Operations</a>`,
    body: html`<article class="card help">${print(tokens)}</article>`,
  })
}

/** The anchor of a heading, as a Git forge makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
