import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { EventSummary, Found } from '../records.ts'
import type { Search } from '../search.ts'
import { document } from './document.ts'
import { deviceLink, listLink, recordPath, timeElement, valueLink } from './links.ts'
import { nextPage } from './next-page.ts'
import { searchForm } from './search-form.ts'

export function eventList({ search, found }: { search: Search; found: Found<EventSummary> }): Html {
  return document({
    title: 'Events',
    body: html`${searchForm('logs', search)} ${eventTable(found.rows, 'Events, newest first')}
    ${nextPage('logs', search, found)}`,
  })
}

export function eventTable(events: readonly EventSummary[], caption: string): Html {
  const rows = events.map((event) => {
    const { id, time, bundle_identifier, version, params_start } = event
    return html`<tr>
      <td><a href="${recordPath('logs', id)}">${timeElement(time)}</a></td>
      <td>
        ${listLink('logs', { application: bundle_identifier, event: event.event }, clientText(event.event))}
      </td>
      <td>
        ${valueLink('logs', 'application', bundle_identifier)}${version ? html` · ${clientText(version)}` : undefined}
      </td>
      <td>${deviceLink('logs', event)}</td>
      <td class="json">${clientText(params_start)}</td>
    </tr> `
  })
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Time (UTC)</th>
          <th scope="col">Event</th>
          <th scope="col">Application</th>
          <th scope="col">Device</th>
          <th scope="col">Params</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}
