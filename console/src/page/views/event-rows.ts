import { isBadEvent } from '../bad-events.ts'
import { clientText, html, type Html, type HtmlValue, listMarksMax, listText } from '../html.ts'
import { shortDuration } from '../numbers.ts'
import type { EventSummary } from '../records.ts'
import { printSearch, type ListSearch } from '../search.ts'
import { localTime } from '../zone.ts'
import { appTag, msOf, recordPath, shortLink, shortTime, withApp } from './links.ts'
import { filterableParams, paramList } from './params.ts'
import { badge } from './parts.ts'

/** An event that took longer than this from the device to the gateway is marked as late. */
const lateSeconds = 5 * 60

export const eventRows = (
  rows: readonly EventSummary[],
  { nowMs, search, id }: { nowMs: number; search: ListSearch; id?: string },
): Html =>
  html`<ol class="rows" ${id === undefined ? undefined : html` id="${id}"`}>
    ${rows.map((row) => eventRow(row, nowMs, search))}
  </ol>`

/**
 * Shows an event in few bytes, because a list has many: the style sheet finds the cells by their
 * elements, and links to the same view have only a query string. They keep the filters of the view,
 * but not a period that was chosen by name. The script of live knows an event by the links of its row.
 */
export function eventRow(row: EventSummary, nowMs: number, search: ListSearch): Html {
  const sameView = (one: ListSearch) => `?${printSearch({ ...search, ...one, after: undefined })}`
  const { id, device_uuid, bundle_identifier, event, version, time, received_at } = row
  const delay = (msOf(received_at) - msOf(time)) / 1_000
  const late = delay > lateSeconds && badge(`${shortDuration(delay)} late`, 'warning')
  const device = [row.model, row.os, row.country].filter((fact) => fact !== null && fact !== '')
  const only = (one: ListSearch, content: HtmlValue) => shortLink(sameView(one), content)
  const filters = [
    search.event === undefined && only({ event }, listText(event, 100)),
    version && search.version === undefined && only({ version }, listText(version, 100)),
    search.application === undefined &&
      only({ application: bundle_identifier }, 'this application'),
    html`user ${only({ user: row.unique_user_id }, listText(row.unique_user_id, 100))}`,
    only({ device: device_uuid }, 'this device'),
    ...filterableParams(row.params_start).map(([name, value]) =>
      only(
        { paths: { ...search.paths, [`params.${name}`]: value } },
        html`${listText(name, 60)}:${listText(value, 60)}`,
      ),
    ),
  ].filter(Boolean)
  return html`<li ${isBadEvent(event) && html`class="bad"`}>
    <details>
      <summary>
        ${shortTime(time, nowMs)}<b>${clientText(event, 100, listMarksMax)}</b>${search.application === undefined ? appTag(bundle_identifier) : html`<i></i>`}<span
          >${listText(version ?? '', 100)}</span
        ><span>${device_uuid.slice(0, 8)}</span>
      </summary>
      <p>
        Only ${filters.map((one, index) => html`${index > 0 ? ' · ' : ''}${one}`)}<br />Happened
        ${localTime(time)}${late && html`, arrived ${localTime(received_at)}`}
        ${device.map((fact) => html` · ${listText(fact ?? '', 60)}`)} · id
        <a href="${withApp(recordPath('logs', id), search.application)}">${id}</a>
      </p>
    </details>
    <div>${late} ${paramList(row.params_start)}</div>
  </li> `
}
