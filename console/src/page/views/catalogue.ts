import { clientText, listMarksMax, listText } from '../client-text.ts'
import { html, type Html, type HtmlValue } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import {
  cataloguePageRows,
  type Catalogue,
  type CatalogueEntry,
  type CataloguePage,
  type CatalogueTable,
  type DriftEntry,
  type WarningEntry,
} from '../read-catalogue.ts'
import type { Header } from '../worker-state.ts'
import { clockTime, document } from './document.ts'
import type { VersionCode } from '../read-version-codes.ts'
import { applicationPath, listPath, recordPath, shortLink, timeElement } from './links.ts'
import { badge, table } from './parts.ts'

/** Links to the two views of an application. */
export function applicationTabs(application: string, current: 'overview' | 'catalogue'): Html {
  const tabs = [
    ['overview', 'Overview', ''],
    ['catalogue', 'Catalogue', '?tab=catalogue'],
  ] as const
  return html`<nav class="tabs" aria-label="Views of the application">
    ${tabs.map(([name, text, query]) => html`<a href="${applicationPath(application, query)}" ${name === current ? html` aria-current="page"` : undefined}>${text}</a> `)}
  </nav>`
}

const noId = '00000000-0000-0000-0000-000000000000'

/** Explains each warning. */
const meanings: Readonly<Record<string, string>> = {
  timestamp_not_read:
    'a timestamp that is none; it is kept in extra, and the event has the time of its arrival',
  device_date_not_read: 'a date of the device that is none; it is kept in device_extra',
  array_as_text: 'a list of mixed types, or a text that looks like a list; it is stored as text',
  clock_skew: 'the clock of the device is wrong',
  near_id_window: 'the event is almost too old to be accepted',
  several_types: 'one param has several types in one version',
  email: 'a text that looks like an e-mail address',
  card: 'a text that looks like the number of a payment card',
  catalogue_cut:
    'more events and params than are counted apart on a day or in its month: the others are missing here or counted together, and the day is left out of changes',
}

export function catalogueView(options: {
  header: Header
  application: string
  catalogue: Catalogue
  countedAtMs: number | undefined
  codes: readonly VersionCode[]
}): Html {
  const { header, application, catalogue, countedAtMs } = options
  const { drift, warnings, entries } = catalogue
  const counted =
    countedAtMs === undefined ? 'counted within a minute' : `counted at ${clockTime(countedAtMs)}`
  return document({
    header,
    title: 'Catalogue',
    tools: codesNote(options.codes),
    heading: clientText(application, 300),
    crumbs: html`<a href="${applicationPath(application)}">Overview</a>`,
    body: html`${applicationTabs(application, 'catalogue')}
    ${section('drift', {
      heading: html`New in each version <small>${counted}</small>`,
      page: drift,
      body: driftTable(application, drift.rows, options.codes),
    })}
    ${section('warnings', {
      heading: 'Data quality',
      page: warnings,
      body: warningTable(warnings.rows),
    })}
    ${section('entries', {
      heading: html`Events and params <small>all that is stored</small>`,
      page: entries,
      body: entryTable(application, entries.rows),
    })}`,
  })

  function section(
    id: CatalogueTable,
    { heading, page, body }: { heading: HtmlValue; page: CataloguePage<unknown>; body: Html },
  ): Html {
    return html`<section class="card wide" id="${id}">
      <h2>${heading}</h2>
      ${page.number > 1 && page.rows.length === 0 ? html`<p class="mute">There are no more.</p>` : body}
      ${pageLinks(application, id, page)}
    </section>`
  }
}

/** Says which rows are shown, with links to other pages. Undefined if all rows are shown. */
function pageLinks(
  application: string,
  id: CatalogueTable,
  { rows, number, hasMore }: CataloguePage<unknown>,
): Html | undefined {
  if (number === 1 && !hasMore) return undefined
  const first = (number - 1) * cataloguePageRows + 1
  const link = (to: number, text: string) =>
    html`<a href="${applicationPath(application, `?tab=catalogue&${id}=${to}#${id}`)}">${text}</a> `
  return html`<p class="pages">
    ${rows.length > 0 ? `Rows ${wholeNumber(first)} to ${wholeNumber(first + rows.length - 1)}. ` : undefined}
    ${number > 1 ? link(number - 1, 'Back') : undefined}
    ${hasMore ? link(number + 1, 'More') : undefined}
  </p>`
}

/**
 * Says how many events each version sent, so that a reader recognises a build that was released by
 * mistake. If no versions are compared, says why.
 */
function codesNote(codes: readonly VersionCode[]): Html {
  const [newest] = codes
  if (newest === undefined)
    return html`<small
      >Versions are compared by name, because no <code>device.version_code</code> was
      counted.</small
    >`
  if (codes.length === 1)
    return html`<small>Only version code ${newest.code} is known, so none is compared.</small>`
  const counts = codes.map(({ code, name: it, events }, index) => {
    const version = it === '' ? code : html`${clientText(it, 60)} (${code})`
    return html`${index > 0 ? ' · ' : ''}${version}: ${wholeNumber(events)}`
  })
  return html`<small>Events by version: ${counts}</small>`
}

/**
 * Returns the name of a param as the client sent it. ClickHouse stores a dot in a name as `%2E`.
 */
const paramName = (param: string) => param.replaceAll('%2E', '.')

/** The name of a version that was compared by its code. */
const versionName = (version: string, codes: readonly VersionCode[]): Html => {
  const known = codes.find(({ code, name: it }) => code === version && it !== '')
  return clientText(known?.name ?? version, 60, listMarksMax)
}

const name = (event: string, param: string): Html =>
  param === ''
    ? html`<b>${event === '' ? 'others' : clientText(event, 60, listMarksMax)}</b>`
    : html`${clientText(event, 60, listMarksMax)}
        <span class="mono">${clientText(paramName(param), 60, listMarksMax)}</span>`

function driftTable(
  application: string,
  drift: readonly DriftEntry[],
  codes: readonly VersionCode[],
): Html {
  if (drift.length === 0) return html`<p class="mute">No change is known.</p>`
  const variants = { new: 'success', gone: 'warning', type: 'danger' } as const
  const rows = drift.map(
    ({ version_from, version_to, event, param, change, before, after }) =>
      html`<tr>
        <td>${versionName(version_from, codes)} → ${versionName(version_to, codes)}</td>
        <td>${badge(change, variants[change])}</td>
        <td>${shortLink(listPath('logs', { application, event }), name(event, param))}</td>
        <td>
          ${param === '' ? undefined : before}${before !== '' && after !== '' ? ' → ' : ''}${param === '' ? undefined : after}
        </td>
      </tr>`,
  )
  return table(
    'Changes',
    html`<th>Version</th>
      <th>Change</th>
      <th>Event or param</th>
      <th>Type</th>`,
    rows,
  )
}

function warningTable(warnings: readonly WarningEntry[]): Html {
  if (warnings.length === 0) return html`<p class="mute">Nothing is known.</p>`
  const rows = warnings.map(
    ({ warning, event, path, version_name, records, last_seen, example }) =>
      html`<tr>
        <td><code>${warning}</code><br /><span class="mute">${meanings[warning]}</span></td>
        <td>${name(event, path)}<br /><span class="mute">${listText(version_name, 60)}</span></td>
        <td class="num" data-label="Events">${wholeNumber(records)}</td>
        <td data-label="Last">${timeElement(last_seen)}</td>
        <td>
          ${example === noId ? undefined : html`<a href="${recordPath('logs', example)}">Show an example</a>`}
        </td>
      </tr>`,
  )
  return table(
    'Warnings',
    html`<th>Warning</th>
      <th>Event and path</th>
      <th class="num">Events</th>
      <th>Last</th>
      <th></th>`,
    rows,
  )
}

function entryTable(application: string, entries: readonly CatalogueEntry[]): Html {
  if (entries.length === 0) return html`<p class="mute">Nothing has been counted yet.</p>`
  const rows = entries.map(
    ({ event, param, types, records, devices, last_seen, newest_version }) =>
      html`<tr>
        <td>
          ${param === '' ? shortLink(listPath('logs', { application, event }), name(event, '')) : html`<span class="mono indent">${clientText(paramName(param), 60, listMarksMax)}</span>`}
        </td>
        <td>${param === '' ? undefined : types}</td>
        <td class="num" data-label="Events">${wholeNumber(records)}</td>
        <td class="num" data-label="Devices (peak day)">${wholeNumber(devices)}</td>
        <td data-label="Newest version">${listText(newest_version, 60)}</td>
        <td data-label="Last">${timeElement(last_seen)}</td>
      </tr>`,
  )
  return table(
    'Events and params',
    html`<th>Event or param</th>
      <th>Type</th>
      <th class="num">Events</th>
      <th class="num">Devices (peak day)</th>
      <th>Newest version</th>
      <th>Last</th>`,
    rows,
  )
}
