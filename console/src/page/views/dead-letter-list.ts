import { plural } from '@intake/runtime'
import { clientText } from '../client-text.ts'
import type { DeadLetterReason, DeadLetterSummary } from '../dead-letters.ts'
import { html, type Html } from '../html.ts'
import { sumOf, wholeNumber } from '../numbers.ts'
import type { NumberedPage } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { helpLink, timeElement, withApp } from './links.ts'
import { alert, bars, card, details, meta, mute, pager } from './parts.ts'

export function deadLetterList(
  header: Header,
  found: NumberedPage<DeadLetterSummary>,
  reasons: readonly DeadLetterReason[],
): Html {
  const total = sumOf(reasons, ({ letters }) => letters)
  const how = html`Replay or drop them with <code>./intake dead-letters</code>. What to do:
    ${helpLink('docs/operations/problems.md#dead_letters')}`
  return document({
    header,
    view: 'status',
    crumbs: html`<a href="${withApp('/status', header.app)}">Status</a>`,
    title: 'Dead letters',
    alert:
      total > 0 &&
      alert(
        'danger',
        html`<b
            >${wholeNumber(total)} ${plural(total, 'row waits', 'rows wait')} for an operator.</b
          >
          ClickHouse rejected them; they are kept, and nothing else is affected. ${how}`,
      ),
    body: html`<div class="grid split">
      <div>
        ${mute(found.rows.length === 0 && found.number === 1 && 'None: ClickHouse has rejected nothing.')}
        ${found.rows.map(letterCard)} ${pager(found, (page) => `/dead-letters?page=${page}`)}
      </div>
      <aside class="side">
        ${card(
          'By reason',
          countsBy(reasons, ({ error_code }) => `code ${error_code}`),
        )}
        ${card(
          'By application',
          countsBy(reasons, ({ bundle_identifier }) => bundle_identifier),
        )}
      </aside>
    </div>`,
  })
}

const letterCard = (letter: DeadLetterSummary): Html =>
  card(
    html`${timeElement(letter.failed_at)} · ${clientText(letter.table, 300)} ·
    ${clientText(letter.bundle_identifier, 300)} · code ${letter.error_code}`,
    html`<p class="text">${clientText(letter.error_start)}</p>
      ${details(
        `The row, ${letter.row_bytes} ${plural(letter.row_bytes, 'byte')}`,
        html`<pre>${clientText(letter.row_start)}</pre>`,
        'numbers',
      )}
      ${meta([`record ${letter.id}`, `device ${letter.device_uuid}`])}`,
  )

function countsBy(
  reasons: readonly DeadLetterReason[],
  nameOf: (reason: DeadLetterReason) => string,
): Html | undefined {
  const counts = new Map<string, number>()
  for (const reason of reasons)
    counts.set(nameOf(reason), (counts.get(nameOf(reason)) ?? 0) + reason.letters)
  const rows = [...counts].map(([name, count]) => ({ name, count }))
  return bars(rows.slice(0, 8), () => '/dead-letters', { series: 'dead' })
}
