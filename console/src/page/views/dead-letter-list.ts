import { plural } from '@intake/runtime'
import { clientText } from '../client-text.ts'
import type { DeadLetterReason, DeadLetterSummary } from '../dead-letters.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { NumberedPage } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { helpLink, timeElement, withApp } from './links.ts'
import { alert, bars, card, mute, pager } from './parts.ts'

export function deadLetterList(
  header: Header,
  found: NumberedPage<DeadLetterSummary>,
  reasons: readonly DeadLetterReason[],
): Html {
  const items = found.rows.map(
    ({ table, id, failed_at, error_code, error_start, row_start, row_bytes, ...head }) =>
      html`<li class="card item">
        <div>
          <h2>
            ${timeElement(failed_at)} · ${clientText(table, 300)} ·
            ${clientText(head.bundle_identifier, 300)} · code ${error_code}
          </h2>
          <p class="text">${clientText(error_start)}</p>
          <details class="numbers">
            <summary>The row, ${row_bytes} ${plural(row_bytes, 'byte')}</summary>
            <pre>${clientText(row_start)}</pre>
          </details>
          <p class="meta">
            <span class="mono">record ${id}</span
            ><span class="mono">device ${head.device_uuid}</span>
          </p>
        </div>
      </li> `,
  )
  const total = reasons.reduce((sum, { letters }) => sum + letters, 0)
  const how = html`Replay or drop them with <code>./intake dead-letters</code>. What to do:
    ${helpLink('docs/operations/problems.md#dead_letters')}`
  const counted = (nameOf: (reason: DeadLetterReason) => string) => {
    const counts = new Map<string, number>()
    for (const reason of reasons)
      counts.set(nameOf(reason), (counts.get(nameOf(reason)) ?? 0) + reason.letters)
    return bars(
      [...counts].map(([name, count]) => ({ name, count })).slice(0, 8),
      () => '/dead-letters',
      { series: 'dead' },
    )
  }
  return document({
    header,
    view: 'status',
    crumbs: html`<a href="${withApp('/status', header.app)}">Status</a>`,
    title: 'Dead letters',
    alert:
      total === 0
        ? undefined
        : alert(
            'danger',
            html`<b
                >${wholeNumber(total)} ${plural(total, 'row waits', 'rows wait')} for an
                operator.</b
              >
              ClickHouse rejected them; they are kept, and nothing else is affected. ${how}`,
          ),
    body: html`<div class="grid split">
      <div>
        ${mute(found.rows.length === 0 && found.number === 1 && 'None: ClickHouse has rejected nothing.')}
        <ul class="inbox">
          ${items}
        </ul>
        ${pager(found, (page) => `/dead-letters?page=${page}`)}
      </div>
      <aside class="side">
        ${card(
          'By reason',
          counted(({ error_code }) => `code ${error_code}`),
        )}
        ${card(
          'By application',
          counted(({ bundle_identifier }) => bundle_identifier),
        )}
      </aside>
    </div>`,
  })
}
