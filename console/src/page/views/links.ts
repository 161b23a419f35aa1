import { isoTime } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { helpPath } from '../help-pages.ts'
import { clientText, html, type Html, type HtmlValue, listText } from '../html.ts'
import { isShort, printSearch, type Cursor, type ListSearch } from '../search.ts'
import type { Found, RecordHead } from '../records.ts'
import { localTime, zoneLabel } from '../zone.ts'

const pathOf = { feedback: '/feedback', logs: '/events' } as const
export type ListKind = keyof typeof pathOf

export const recordPath = (kind: ListKind, id: string) =>
  `${pathOf[kind]}/${encodeURIComponent(id)}`

/** The path has the whole identity, because several devices may have sent the same id. */
export function exactPath(kind: ListKind, head: Omit<RecordHead, 'time'>, app?: string): string {
  const { device_uuid: device, bundle_identifier: application } = head
  const query = new URLSearchParams({ device, application, ...(app !== undefined && { app }) })
  return `${recordPath(kind, head.id)}?${query.toString()}`
}

export const listPath = (kind: ListKind, search: ListSearch): string =>
  `${pathOf[kind]}?${printSearch(search)}`

export const listLink = (kind: ListKind, search: ListSearch, content: HtmlValue): Html =>
  html`<a href="${listPath(kind, search)}">${content}</a>`

/** An empty `name` searches for records without one. */
export const byName = (field: 'version' | 'event', name: string): ListSearch =>
  name === '' ? { without: field } : { [field]: name }

/** Browsers resolve `.` and `..` even if escaped: they get a `=`, which `applicationOf` removes. */
export const applicationPath = (application: string, tab = ''): string =>
  `/applications/${/^(?:=|\.\.?$)/.test(application) ? '=' : ''}${encodeURIComponent(application)}${tab}`

/** The choice of an application is a part of every link that leads to another view. */
export const withApp = (path: string, app: string | undefined, rest = {}): string => {
  const query = new URLSearchParams({ ...(app !== undefined && { app }), ...rest })
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

/** A link, or only its content if the link is too long for a list. */
export const shortLink = (href: string, content: HtmlValue): Html =>
  isShort(href) ? html`<a href="${href}">${content}</a>` : html`<span>${content}</span>`

export const appLink = (application: string): Html =>
  html`<a href="${applicationPath(application)}">${clientText(application, 300)}</a>`

export const helpLink = (file: string): Html =>
  html`<a href="${helpPath(file)}"
    >${file.replaceAll(/^.*[#/]|\.md$/g, '').replaceAll('_', ' ')}</a
  >`

const colours = 4
const tagLength = 20

/** Shows the last parts of an identifier. Different identifiers may have the same colour. */
export function appTag(application: string): Html {
  let hash = 0
  for (const sign of application) hash = (hash * 31 + (sign.codePointAt(0) ?? 0)) % 65_521
  const parts = application.split('.')
  while (parts.length > 1 && parts.join('.').length > tagLength) parts.shift()
  return html`<span class="app a${hash % colours}">${listText(parts.join('.'), 30)}</span>`
}

export const deviceLink = (kind: ListKind, head: RecordHead, content: string): Html =>
  listLink(kind, { application: head.bundle_identifier, device: head.device_uuid }, content)

export const cursorOf = ({ id, device_uuid, bundle_identifier }: RecordHead): Cursor => ({
  id,
  device: device_uuid,
  application: bundle_identifier,
})

export const msOf = (time: string): number => Date.parse(isoTime(time))

export function timeTag(time: string, content: string = localTime(time).slice(0, 19)): Html {
  return html`<time datetime="${isoTime(time)}" title="${localTime(time)} ${zoneLabel(msOf(time))}"
    >${content}</time
  >`
}

export const clockElement = (time: string): Html => timeTag(time, localTime(time).slice(11, 19))

/** Prints milliseconds only for today, because the whole time stands elsewhere in the list. */
export function shortTime(time: string, nowMs: number): Html {
  const local = localTime(time)
  const isToday = local.slice(0, 10) === localTime(nowMs).slice(0, 10)
  return html`<time>${isToday ? local.slice(11) : local.slice(5, 19)}</time>`
}

export function nextPage(kind: RecordKind, search: ListSearch, found: Found<RecordHead>): Html {
  const last = found.rows.at(-1)
  const { after: _, ...rest } = search
  const newest = search.after && html`${listLink(kind, rest, 'Newest')} `
  if (found.hasMore && last !== undefined) {
    const next = listLink(kind, { ...search, after: cursorOf(last) }, 'Older')
    return html`<p class="pages">${newest}${next}</p>`
  }
  if (found.unread !== undefined) {
    const to = new Date(found.unread.to)
    const next = listLink(kind, { ...rest, to }, 'Search further back')
    return html`<p class="pages">
      Searched back to ${localTime(to.getTime()).slice(0, 16)}, which took long. ${newest}${next}
    </p>`
  }
  const none = printSearch(search) === '' ? 'None yet.' : 'Nothing matches.'
  return html`<p class="pages">${newest}${found.rows.length === 0 ? none : 'These are all.'}</p>`
}
