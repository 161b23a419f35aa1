import { html, type Html } from '../html.ts'
import { document } from './document.ts'

/** Why there is no page, in words for its reader. */
export function problemView(status: number, message: string): Html {
  return document({ title: `Error ${status}`, body: html`<p>${message}</p>` })
}
