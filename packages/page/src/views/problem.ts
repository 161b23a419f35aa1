import { html, type Html } from '../html.ts'
import { document } from './document.ts'

/** Shows the reader why there is no page. */
export function problemView(status: number, message: string): Html {
  return document({ title: `Error ${status}`, body: html`<p>${message}</p>` })
}
