import { clientText } from '../client-text.ts'
import { printDeadLetterCursor, type DeadLetterSummary } from '../dead-letters.ts'
import { html, type Html } from '../html.ts'
import type { Found } from '../records.ts'
import { document } from './document.ts'
import { timeElement } from './links.ts'

/** The rows that ClickHouse rejected, with its reasons. */
export function deadLetterList(found: Found<DeadLetterSummary>): Html {
  const last = found.rows.at(-1)
  const items = found.rows.map(
    ({ table, id, failed_at, error_code, error_start, row_start, row_bytes, ...head }) =>
      html`<article>
        <h2>${timeElement(failed_at)} · ${clientText(table, 300)} · code ${error_code}</h2>
        <p class="facts">
          ${clientText(head.bundle_identifier, 300)} · record ${id} · device ${head.device_uuid}
        </p>
        <p class="text">${clientText(error_start)}</p>
        <details>
          <summary>The row, ${row_bytes} bytes</summary>
          <pre>${clientText(row_start)}</pre>
        </details>
      </article> `,
  )
  const older =
    found.hasMore && last !== undefined
      ? html`<a href="/dead-letters?${printDeadLetterCursor(last)}">Older</a>`
      : 'No more.'
  return document({
    title: 'Dead letters',
    body: html`<p>Replay or drop them with <code>npm run -s intake -- dead-letters</code>.</p>
      ${items}
      <p class="pages">${older}</p>`,
  })
}
