import { plural, quantity } from '@intake/runtime'
import type { DeadLetterReason, DeadLetterSummary } from '../dead-letters.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, wholeNumber } from '../numbers.ts'
import type { NumberedPage } from '../records.ts'
import { table } from '../table.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { helpLink, timeTag, withApp } from './links.ts'
import { alert, card, details, meta, mute, pager } from './parts.ts'

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
    body: html`${total > 0 && card('Why', reasonTable(reasons))}
    ${mute(found.rows.length === 0 && found.number === 1 && 'None: ClickHouse has rejected nothing.')}
    ${found.rows.map(letterCard)}
    ${pager(found, (page) => withApp('/dead-letters', header.app, { page }))}`,
  })
}

const reasonTable = (reasons: readonly DeadLetterReason[]): Html =>
  table('Why', reasons, [
    ['ClickHouse’s code', ({ error_code }) => `${error_code}`],
    ['Application', ({ bundle_identifier }) => clientText(bundle_identifier, 300)],
    ['Rows', ({ letters }) => letters, 'num'],
  ])

const letterCard = (letter: DeadLetterSummary): Html =>
  card(
    html`${timeTag(letter.failed_at)} · ${clientText(letter.table, 300)} ·
    ${clientText(letter.bundle_identifier, 300)} · code ${letter.error_code}`,
    html`<p class="text">${clientText(letter.error_start)}</p>
      ${details(
        `The row, ${quantity(letter.row_bytes, 'byte')}`,
        html`<pre>${clientText(letter.row_start)}</pre>`,
        'numbers',
      )}
      ${meta([`record ${letter.id}`, `device ${letter.device_uuid}`])}`,
  )
