import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { FeedbackSummary } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { applicationTag, exactPath, listLink, listPath, msOf, timeElement } from './links.ts'
import { ago, badge } from './parts.ts'
import { pictures, type SignPicture } from './pictures.ts'

interface Items {
  header: Header
  rows: readonly FeedbackSummary[]
  sign: SignPicture
}

export const latestFeedback = (options: Items, application?: string): Html =>
  html`<section class="mini">
    <div class="title">
      <h2>Latest feedback</h2>
      <a href="${listPath('feedback', { application })}">all feedback</a>
    </div>
    <ul class="inbox grid g3">
      ${options.rows.map((row) => feedbackItem(row, options))}
    </ul>
  </section>`

function feedbackItem(row: FeedbackSummary, { header, sign }: Items): Html {
  const { time, bundle_identifier, os, model, version, email, country, text_start } = row
  const isCut = row.text_length > Array.from(text_start).length
  const path = exactPath('feedback', row, header.app)
  const device = [model, os].filter((fact) => fact !== null && fact !== '')
  return html`<li class="card item">
    <div>
      <h2>
        <a href="${path}">${timeElement(time, ago(msOf(time), header.nowMs))}</a
        >${email === null ? 'no e-mail' : clientText(email, 300)}
      </h2>
      <p class="text">
        ${clientText(text_start)}${isCut ? html` <a href="${path}">… all ${row.text_length} characters</a>` : undefined}
      </p>
      <p class="meta">
        ${header.app === undefined ? applicationTag(bundle_identifier) : undefined}${version ? badge(listLink('feedback', { application: bundle_identifier, version }, clientText(version, 300))) : undefined}${device.length > 0 ? html`<span>${device.map((fact, index) => html`${index > 0 ? ' · ' : ''}${clientText(fact ?? '', 100)}`)}</span>` : undefined}${country ? html`<span>${clientText(country)}</span>` : undefined}
      </p>
    </div>
    ${pictures(row.attachments, sign)}
  </li> `
}
