import { isoTime } from '@intake/clickhouse'
import { clientText, listText } from '../client-text.ts'
import { helpPath } from '../help-pages.ts'
import { html, type Html, type HtmlValue } from '../html.ts'
import { isShort, printSearch, type Cursor, type ListSearch } from '../search.ts'
import type { RecordHead } from '../records.ts'
import { localTime, zoneLabel } from '../zone.ts'

const pathOf = { feedback: '/feedback', logs: '/events' } as const
export type ListKind = keyof typeof pathOf

export const recordPath = (kind: ListKind, id: string) =>
  `${pathOf[kind]}/${encodeURIComponent(id)}`

/**
 * The path of a record. It contains the whole identity, because several devices may have sent the
 * same id.
 *
 * @param app the application to which the reader has limited all views
 */
export function exactPath(kind: ListKind, head: Omit<RecordHead, 'time'>, app?: string): string {
  const { device_uuid: device, bundle_identifier: application } = head
  const query = new URLSearchParams({ device, application, ...(app !== undefined && { app }) })
  return `${recordPath(kind, head.id)}?${query.toString()}`
}

export const listPath = (kind: ListKind, search: ListSearch): string =>
  `${pathOf[kind]}?${printSearch(search)}`

/**
 * Returns the search for records with this version or event. An empty `name` searches for records
 * without one.
 */
export const byName = (field: 'version' | 'event', name: string): ListSearch =>
  name === '' ? { without: field } : { [field]: name }

/**
 * The path of an application. If its name is `.` or `..`, a `=` is put before it, because browsers
 * resolve these names in a path even if they are escaped. A name that begins with `=` gets another
 * `=`, so that `applicationOf` can always remove one.
 */
export const applicationPath = (application: string, tab = ''): string =>
  `/applications/${/^(?:=|\.\.?$)/.test(application) ? '=' : ''}${encodeURIComponent(application)}${tab}`

/** Links to the two views of an application. */
export function applicationTabs(application: string, current: 'overview' | 'catalogue'): Html {
  const tabs = [
    ['overview', 'Overview', ''],
    ['catalogue', 'Catalogue', '?tab=catalogue'],
  ] as const
  return html`<nav class="seg" aria-label="Views of the application">
    ${tabs.map(([name, text, query]) => html`<a href="${applicationPath(application, query)}" ${name === current ? html` aria-current="page"` : undefined}>${text}</a> `)}
  </nav>`
}

/** A path with the reader's choice of an application. */
export const withApp = (path: string, app: string | undefined): string =>
  app === undefined ? path : `${path}?${new URLSearchParams({ app }).toString()}`

/** A link, or only its content if the link is too long for a list. */
export const shortLink = (href: string, content: HtmlValue): Html =>
  isShort(href) ? html`<a href="${href}">${content}</a>` : html`<span>${content}</span>`

export function listLink(kind: ListKind, search: ListSearch, content: Html | string): Html {
  return html`<a href="${listPath(kind, search)}">${content}</a>`
}

export const applicationLink = (application: string): Html =>
  html`<a href="${applicationPath(application)}">${clientText(application, 300)}</a>`

/** A link to a page of the documentation, which is named by its file. */
export const helpLink = (file: string): Html =>
  html`<a href="${helpPath(file)}"
    >${file
      .replace(/^.*[#/]/, '')
      .replace('.md', '')
      .replaceAll('_', ' ')}</a
  >`

const colours = 6
const tagLength = 20

/**
 * An application as a name with a colour, short enough for a row: the last parts of its identifier.
 * Different identifiers may have the same colour.
 */
export function applicationTag(application: string): Html {
  let hash = 0
  for (const sign of application) hash = (hash * 31 + (sign.codePointAt(0) ?? 0)) % 65_521
  const parts = application.split('.')
  while (parts.length > 1 && parts.join('.').length > tagLength) parts.shift()
  return html`<span class="app a${hash % colours}">${listText(parts.join('.'), 30)}</span>`
}

export function deviceLink(kind: ListKind, head: RecordHead, content: string = head.device_uuid) {
  return listLink(kind, { application: head.bundle_identifier, device: head.device_uuid }, content)
}

export function cursorOf({ id, device_uuid, bundle_identifier }: RecordHead): Cursor {
  return { id, device: device_uuid, application: bundle_identifier }
}

export const msOf = (time: string): number => Date.parse(isoTime(time))

export function timeElement(time: string, content: string = localTime(time).slice(0, 19)): Html {
  return html`<time datetime="${isoTime(time)}" title="${localTime(time)} ${zoneLabel()}"
    >${content}</time
  >`
}

export const clockElement = (time: string): Html => timeElement(time, localTime(time).slice(11, 19))

/**
 * Shows a time of today as the time of day with milliseconds, and any other time as the date and
 * the time without milliseconds. It is for lists that show the whole time elsewhere.
 */
export function shortTime(time: string, nowMs: number): Html {
  const local = localTime(time)
  const isToday = local.slice(0, 10) === localTime(nowMs).slice(0, 10)
  return html`<time>${isToday ? local.slice(11) : local.slice(5, 19)}</time>`
}
