import { isoTime } from '@intake/clickhouse'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { printSearch, type Cursor, type Search } from '../search.ts'
import type { RecordHead } from '../records.ts'

export const pathOf = { feedback: '/', logs: '/events' } as const
export type ListKind = keyof typeof pathOf

export const recordPath = (kind: ListKind, id: string) =>
  `${kind === 'feedback' ? '/feedback' : '/events'}/${encodeURIComponent(id)}`

/**
 * The path of a record. It contains the whole identity, because several devices may have sent the
 * same id.
 */
export function exactPath(kind: ListKind, head: Omit<RecordHead, 'time'>): string {
  const { device_uuid: device, bundle_identifier: application } = head
  return `${recordPath(kind, head.id)}?${new URLSearchParams({ device, application }).toString()}`
}

/** A link to a list that is limited to a search. */
export function listLink(kind: ListKind, search: Search, content: Html | string): Html {
  return html`<a href="${pathOf[kind]}?${printSearch(search)}">${content}</a>`
}

/** A value of a record as a link to the list of all records with that value. */
export function valueLink(kind: ListKind, name: 'application' | 'version' | 'user', value: string) {
  return listLink(kind, { [name]: value }, clientText(value, 300))
}

/** A link to the list of all records of a device in an application. */
export function deviceLink(kind: ListKind, head: RecordHead, content: string = head.device_uuid) {
  return listLink(kind, { application: head.bundle_identifier, device: head.device_uuid }, content)
}

export function cursorOf({ id, device_uuid, bundle_identifier }: RecordHead): Cursor {
  return { id, device: device_uuid, application: bundle_identifier }
}

/** Shows a time from ClickHouse, in UTC. */
export function timeElement(time: string): Html {
  return html`<time datetime="${isoTime(time)}">${time.slice(0, 19)}</time>`
}
