import { html, type Html } from '../html.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'

export function problemView(header: Header, status: number, message: string): Html {
  const body = html`<p>${message}</p>
    <p><a href="/">Overview</a></p>`
  return document({ header, title: `Error ${status}`, body })
}
