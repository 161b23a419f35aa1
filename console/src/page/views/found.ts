import type { RecordKind } from '@intake/contract'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import type { Found, RecordHead } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { exactPath, timeElement } from './links.ts'
import { card, list } from './parts.ts'

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
    (head) =>
      html`<a href="${exactPath(kind, head)}">${timeElement(head.time)}</a>
        ${clientText(head.bundle_identifier, 300)} ${head.id}, device ${head.device_uuid}`,
  )
  return card(kind === 'feedback' ? 'Feedback' : 'Events', list(items))
}
