import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { FeedbackSummary } from '../records.ts'
import { applicationLink, exactPath, msOf, timeElement, valueLink } from './links.ts'
import { ago, badge } from './parts.ts'
import { pictures, type SignPicture } from './pictures.ts'

/** A list of feedback. Each item shows the text and then the pictures. */
export const feedbackItems = (options: {
  rows: readonly FeedbackSummary[]
  sign: SignPicture
  nowMs: number
  className?: string
}): Html =>
  html`<ul class="inbox ${options.className}">
    ${options.rows.map((row) => feedbackItem(row, options))}
  </ul>`

function feedbackItem(
  row: FeedbackSummary,
  { sign, nowMs }: { sign: SignPicture; nowMs: number },
): Html {
  const { time, bundle_identifier, os, model, version, email, country, text_start } = row
  const isCut = row.text_length > Array.from(text_start).length
  const path = exactPath('feedback', row)
  const device = [model, os].filter((fact) => fact !== null && fact !== '')
  return html`<li class="card item">
    <div>
      <h2>
        <a href="${path}">${timeElement(time, ago(msOf(time), nowMs))}</a
        >${email === null ? 'no e-mail' : clientText(email, 300)}
      </h2>
      <p class="text">
        ${clientText(text_start)}${isCut ? html` <a href="${path}">… all ${row.text_length} characters</a>` : undefined}
      </p>
      <p class="meta">
        <span>${applicationLink(bundle_identifier)}</span
        >${version ? badge(valueLink('feedback', 'version', version)) : undefined}${device.length > 0 ? html`<span>${device.map((fact, index) => html`${index > 0 ? ' · ' : ''}${clientText(fact ?? '', 100)}`)}</span>` : undefined}${country ? html`<span>${clientText(country)}</span>` : undefined}
      </p>
    </div>
    ${pictures(row.attachments, sign)}
  </li> `
}
