import { quantity } from '@intake/runtime'
import { clientText, html, type Html, type HtmlValue, listMarksMax, listText } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { Catalogue, CatalogueEntry, DriftEntry } from '../read-catalogue.ts'
import type { VersionCode, WarningEntry } from '../read-catalogue.ts'
import { table } from '../table.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { applicationPath, listPath, recordPath, shortLink, timeTag, withApp } from './links.ts'
import { badge, card, countedNote, details, list, mute, pager } from './parts.ts'
import { applicationTabs } from './summary.ts'

const noId = '00000000-0000-0000-0000-000000000000'

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
  const { header, application, catalogue, codes } = options
  const { drift, warnings, entries } = catalogue
  const sections = (
    [
      [
        'drift',
        html`New in each version <small>${countedNote(options)}</small>`,
        driftTable(application, drift.rows, codes),
      ],
      ['warnings', 'Data quality', warningTable(application, warnings.rows)],
      [
        'entries',
        html`Events and params <small>all that is stored</small>`,
        entryTable(application, entries.rows),
      ],
    ] as const
  ).map(([id, heading, rows]) => {
    const pathOf = (page: number) =>
      applicationPath(application, `?tab=catalogue&${id}=${page}#${id}`)
    return card(heading, html`${rows} ${pager(catalogue[id], pathOf)}`, id)
  })
  const isCounted = entries.rows.length > 0 || entries.number > 1
  return document({
    header,
    view: 'overview',
    title: 'Catalogue',
    tools: isCounted && html`<small>${codesNote(codes)}</small>`,
    heading: clientText(application, 300),
    body: html`${applicationTabs(application, 'Catalogue')}
    ${isCounted ? sections : mute('Not counted yet. The catalogue is counted at least every hour, and every minute while few events are stored.')}`,
  })
}

/** Shows a build that was released by mistake: few events have its version. */
function codesNote(codes: readonly VersionCode[]): HtmlValue {
  const [newest] = codes
  if (newest === undefined)
    return html`Versions are compared by name, because no <code>device.version_code</code> was
      counted.`
  if (codes.length === 1) return `Only version code ${newest.code} is known, so none is compared.`
  const counts = codes.map(({ code, name: it, events }, index) => {
    const version = it === '' ? code : html`${clientText(it, 60)} (${code})`
    return html`${index > 0 ? ' · ' : ''}${version}: ${wholeNumber(events)}`
  })
  return html`Events by version: ${counts}`
}

/** ClickHouse stores a dot in a name as `%2E`. */
const paramName = (param: string) => param.replaceAll('%2E', '.')

const versionName = (version: string, codes: readonly VersionCode[]): Html =>
  shortText(codes.find(({ code, name: it }) => code === version && it !== '')?.name ?? version)

const shortText = (text: string): Html => clientText(text, 60, listMarksMax)

const name = (event: string, param: string): Html =>
  param === ''
    ? html`<b>${event === '' ? 'others' : shortText(event)}</b>`
    : html`${shortText(event)} <span class="mono">${shortText(paramName(param))}</span>`

function driftTable(
  application: string,
  drift: readonly DriftEntry[],
  codes: readonly VersionCode[],
): Html {
  const variants = { new: 'success', gone: 'warning', type: 'danger' } as const
  return table('Changes', drift, [
    [
      'Version',
      ({ version_from, version_to }) =>
        html`${versionName(version_from, codes)} → ${versionName(version_to, codes)}`,
    ],
    ['Change', ({ change }) => badge(change, variants[change])],
    [
      'Event or param',
      ({ event, param }) => shortLink(listPath('logs', { application, event }), name(event, param)),
    ],
    [
      'Type',
      ({ param, before, after }) =>
        param === '' ? undefined : [before, after].filter((type) => type !== '').join(' → '),
    ],
  ])
}

function warningTable(application: string, warnings: readonly WarningEntry[]): Html {
  return table('Warnings', warnings, [
    [
      'Warning',
      ({ warning }) =>
        html`<code>${warning}</code><br /><span class="mute">${meanings[warning]}</span>`,
    ],
    [
      'Event and path',
      ({ event, path, version_name }) =>
        html`${name(event, path)}<br /><span class="mute">${listText(version_name, 60)}</span>`,
    ],
    ['Events', ({ records }) => records, 'num'],
    ['Last', ({ last_seen }) => timeTag(last_seen)],
    [
      'Example',
      ({ example }) =>
        example !== noId &&
        html`<a href="${withApp(recordPath('logs', example), application)}">Show it</a>`,
    ],
  ])
}

function entryTable(application: string, entries: readonly CatalogueEntry[]): Html {
  const events = [...new Set(entries.map(({ event }) => event))].map((event) => {
    const own = entries.filter((entry) => entry.event === event)
    // On the second page of an event with many params, the first of them stands for the event.
    return { ...own[0]!, event, params: own.filter(({ param }) => param !== '') }
  })
  return table('Events and params', events, [
    ['Event', ({ event }) => shortLink(listPath('logs', { application, event }), name(event, ''))],
    ['Params', ({ params }) => params.length > 0 && paramsOf(params)],
    ['Events', ({ records }) => records, 'num'],
    ['Devices (peak day)', ({ devices }) => devices, 'num'],
    ['Newest version', ({ newest_version }) => listText(newest_version, 60)],
    ['Last', ({ last_seen }) => timeTag(last_seen)],
  ])
}

const paramsOf = (params: readonly CatalogueEntry[]): Html =>
  details(
    quantity(params.length, 'param'),
    list(
      params.map(
        ({ param, types, records }) =>
          html`<span class="mono">${shortText(paramName(param))}</span> ${types}
            <small>${wholeNumber(records)}</small>`,
      ),
    ),
  )
