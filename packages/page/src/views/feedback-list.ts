import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { FeedbackSummary, Found } from '../records.ts'
import type { Search } from '../search.ts'
import { document } from './document.ts'
import { deviceLink, recordPath, timeElement, valueLink } from './links.ts'
import { nextPage } from './next-page.ts'
import { pictures, type SignPicture } from './pictures.ts'
import { searchForm } from './search-form.ts'

export function feedbackList(options: {
  search: Search
  found: Found<FeedbackSummary>
  sign: SignPicture
}): Html {
  const { search, found, sign } = options
  return document({
    title: 'Feedback',
    body: html`${searchForm('feedback', search)} ${found.rows.map((row) => feedbackItem(row, sign))}
    ${nextPage('feedback', search, found)}`,
  })
}

function feedbackItem(row: FeedbackSummary, sign: SignPicture): Html {
  const { id, time, bundle_identifier, os, model, version, email, text_start, text_length } = row
  const isCut = text_length > Array.from(text_start).length
  const facts = [os, model].filter((fact) => fact !== null && fact !== '')
  return html`<article>
    <h2><a href="${recordPath('feedback', id)}">${timeElement(time)}</a></h2>
    <p class="facts">
      ${valueLink('feedback', 'application', bundle_identifier)}
      ${version ? html` · ${valueLink('feedback', 'version', version)}` : undefined}
      ${facts.map((fact) => html` · ${clientText(fact ?? '')}`)}
      ${email === null ? undefined : html` · ${clientText(email, 300)}`} · device
      ${deviceLink('feedback', row)}
    </p>
    <p class="text">
      ${clientText(text_start)}${isCut ? html` <a href="${recordPath('feedback', id)}">… all ${text_length} characters</a>` : undefined}
    </p>
    ${pictures(row.attachments, sign)}
  </article> `
}
