import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { shortDuration } from '../numbers.ts'
import type { EventSummary } from '../records.ts'
import { applicationLink, exactPath, listLink, msOf, shortTime } from './links.ts'
import { paramLine, paramList } from './params.ts'
import { badge, icon, isBadEvent } from './parts.ts'

/** An event that took longer from the device to the gateway is marked. */
const lateSeconds = 5 * 60

/** A list of events, each of which opens in place. */
export const eventRows = (rows: readonly EventSummary[], nowMs: number, id?: string): Html =>
  html`<ol class="rows" ${id === undefined ? undefined : html` id="${id}"`}>
    ${rows.map((row) => eventRow(row, nowMs))}
  </ol>`

export function eventRow(row: EventSummary, nowMs: number): Html {
  const { id, device_uuid, bundle_identifier, event, version, time, received_at } = row
  const delay = (msOf(received_at) - msOf(time)) / 1_000
  const late =
    delay > lateSeconds
      ? html`<span class="tag">${badge(`${shortDuration(delay)} late`, 'warning')}</span>`
      : undefined
  const isBad = isBadEvent(event)
  const device = [row.model, row.os, row.country].filter((fact) => fact !== null && fact !== '')
  return html`<li class="${isBad ? 'bad' : ''}" id="e-${id}-${device_uuid.slice(0, 8)}">
    <details>
      <summary>
        ${shortTime(time, nowMs)}<span class="ev"
          >${isBad ? icon('warn') : undefined}${clientText(event)}</span
        ><span class="params">${late}${paramLine(row.params_start)}</span
        ><span class="app">${clientText(version ?? bundle_identifier, 100)}</span
        ><span class="dev">${device_uuid.slice(0, 8)}</span>
      </summary>
      <div class="open">
        ${paramList(row.params_start)}
        <dl>
          <dt>Application</dt>
          <dd>${applicationLink(bundle_identifier)}</dd>
          <dt>Happened</dt>
          <dd>${time}${late === undefined ? undefined : html`, arrived ${received_at}`}</dd>
          <dt>User</dt>
          <dd>
            ${listLink('logs', { user: row.unique_user_id }, clientText(row.unique_user_id, 100))}
          </dd>
          <dt>Device</dt>
          <dd>
            ${device.map((fact, index) => html`${index > 0 ? ' · ' : ''}${clientText(fact ?? '', 100)}`)}
            <a href="/live?${new URLSearchParams({ device: device_uuid }).toString()}"
              >only this device</a
            >
          </dd>
          <dt>Id</dt>
          <dd class="mono">
            <a href="${exactPath('logs', { id, device_uuid, bundle_identifier })}">${id}</a>
          </dd>
        </dl>
      </div>
    </details>
  </li> `
}
