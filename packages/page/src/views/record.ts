import { html, type Html } from '../html.ts'
import type { Attachment, EventSummary, FullRecord, RecordHead } from '../records.ts'
import { columnList } from './columns.ts'
import { document } from './document.ts'
import { eventTable } from './event-list.ts'
import { deviceLink, timeElement, valueLink } from './links.ts'
import { pictures, type SignPicture } from './pictures.ts'

export interface RecordWithEvents {
  record: FullRecord
  /** Events of the record's device, newest first. */
  around: { before: readonly EventSummary[]; after: readonly EventSummary[] }
}

/** All columns of one record, with the events of its device before and after it. */
export function recordView(found: readonly RecordWithEvents[], sign: SignPicture): Html {
  const kind = found[0]?.record.kind
  return document({
    title: kind === 'feedback' ? 'One feedback' : 'One event',
    body: found.map((one) => section(one, sign)),
  })
}

function section({ record, around }: RecordWithEvents, sign: SignPicture): Html {
  const { kind, columns } = record
  const { device, attachments, id, time, bundle_identifier, device_uuid, text, email, ...others } =
    columns
  const shown = {
    ...(typeof text === 'string' && { text }),
    ...(typeof email === 'string' && { email }),
    ...others,
    id,
  }
  const head: RecordHead = { id, time, bundle_identifier, device_uuid }
  const list = Array.isArray(attachments) ? (attachments as Attachment[]) : []
  return html`<article>
      <h2>${timeElement(time)} UTC</h2>
      <p class="facts">
        ${valueLink(kind, 'application', bundle_identifier)} · device ${device_uuid}:
        ${deviceLinks(head)}
      </p>
      ${pictures(list, sign)} ${columnList(shown)}
      <h3>Device</h3>
      ${columnList((device ?? {}) as Record<string, unknown>)}
    </article>
    ${eventTable(around.after, 'Events of this device after it')}
    ${eventTable(around.before, 'Events of this device before it')} `
}

function deviceLinks(head: RecordHead): Html {
  return html`${deviceLink('logs', head, 'all events')},
  ${deviceLink('feedback', head, 'all feedback')}`
}
