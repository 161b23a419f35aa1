import type { RecordKind } from '@intake/contract'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { Found, RecordHead } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { exactPath, timeElement } from './links.ts'

/** Lists the records that were found by a record id, a request id or a client's `feedback.id`. */
export function foundList(header: Header, found: Record<RecordKind, Found<RecordHead>>): Html {
  const { feedback, logs } = found
  const isCut = feedback.unread !== undefined || logs.unread !== undefined
  const total = feedback.rows.length + logs.rows.length
  return document({
    header,
    title: total === 0 ? 'Nothing found' : 'Found',
    body: html`${listOf('feedback', feedback.rows)}${listOf('logs', logs.rows)}
      <p>
        ${total === 0 ? 'No record, dead letter, request or device has this id.' : `${total} found.`}
        ${isCut ? 'The search took long and was ended; older records were not searched.' : undefined}
      </p>`,
  })
}

function listOf(kind: RecordKind, heads: readonly RecordHead[]): Html | undefined {
  if (heads.length === 0) return undefined
  const items = heads.map(
    ({ id, time, bundle_identifier, device_uuid }) =>
      html`<li>
        <a href="${exactPath(kind, { id, device_uuid, bundle_identifier })}"
          >${timeElement(time)}</a
        >
        ${clientText(bundle_identifier, 300)} ${id}, device ${device_uuid}
      </li> `,
  )
  return html`<h2>${kind === 'feedback' ? 'Feedback' : 'Events'}</h2>
    <ul>
      ${items}
    </ul>`
}
