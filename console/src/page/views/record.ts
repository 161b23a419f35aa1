import { plural } from '@intake/runtime'
import { strip } from '../charts.ts'
import { isBadEvent } from '../bad-events.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { eventsAroundMax } from '../list-records.ts'
import { shortDuration } from '../numbers.ts'
import type { Attachment, EventSummary, FullRecord, RecordHead } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { columnList, isEmpty } from './columns.ts'
import { document } from './document.ts'
import { applicationLink, deviceLink, exactPath, listLink, msOf, timeElement } from './links.ts'
import { keyName, type KeyNames } from './outcomes.ts'
import { paramList } from './params.ts'
import { ago, card } from './parts.ts'
import { pictures, type SignPicture } from './pictures.ts'

export interface RecordWithEvents {
  record: FullRecord
  /** Events of the record's device, newest first. */
  around: { before: readonly EventSummary[]; after: readonly EventSummary[] }
}

/** The strip shows events from this long before the record to this long after it. */
const stripMs = 30 * 60_000

/** All columns of one record, with the events of its device before and after it. */
export function recordView(options: {
  header: Header
  found: RecordWithEvents
  sign: SignPicture
  names: KeyNames
}): Html {
  const { header, found, sign, names } = options
  const { kind, columns } = found.record
  const {
    device,
    attachments,
    attachment_count: _,
    text,
    email,
    event,
    params,
    ...others
  } = columns
  const {
    id,
    time,
    bundle_identifier,
    device_uuid,
    unique_user_id: _user,
    api_key_id: _key,
    request_id: _request,
    received_at: _arrival,
    country: _country,
    ...rest
  } = others as typeof others & Record<string, unknown>
  const head: RecordHead = { id, time, bundle_identifier, device_uuid }
  const list = Array.isArray(attachments) ? (attachments as Attachment[]) : []
  const isFeedback = kind === 'feedback'
  const path = isFeedback ? '/feedback' : '/events'
  const main = isFeedback
    ? html`<article class="card item wide big">
        <div>
          <p class="text">${clientText(String(text))}</p>
          <p class="meta">
            <span>${typeof email === 'string' ? clientText(email, 300) : 'no e-mail'}</span>
          </p>
          <h2 class="sub">Device</h2>
          ${columnList((device ?? {}) as Record<string, unknown>)}
        </div>
        ${pictures(list, sign, { whole: true })}
      </article>`
    : card('Params', columnList((params ?? {}) as Record<string, unknown>, 1), 'card wide')
  const record = identity({ kind, columns: found.record.columns, head, names })
  return document({
    header,
    view: isFeedback ? 'feedback' : 'events',
    title: isFeedback ? 'One feedback' : 'One event',
    heading: html`${isFeedback ? 'Feedback' : clientText(String(event), 300)}
      <small>${timeElement(time, time)} UTC, ${ago(msOf(time), header.nowMs)}</small>`,
    crumbs: html`<a href="${path}">${isFeedback ? 'Feedback' : 'Events'}</a
      >${isFeedback ? undefined : html` · ${listLink('logs', { application: bundle_identifier, event: String(event) }, 'all of this event')}`}`,
    body: html`${isFeedback ? main : undefined}
      <div class="grid g31">
        <div>${isFeedback ? undefined : main} ${timeline(found, head, isFeedback)}</div>
        <aside class="side">
          ${card('Record', record)}
          ${isFeedback ? undefined : card('Device', columnList((device ?? {}) as Record<string, unknown>))}
          ${Object.values(rest).every(isEmpty) ? undefined : card('Sent besides', columnList(rest))}
        </aside>
      </div>`,
  })
}

/** Who sent the record, from where and when. */
function identity(options: {
  kind: RecordWithEvents['record']['kind']
  columns: RecordWithEvents['record']['columns']
  head: RecordHead
  names: KeyNames
}): Html {
  const { kind, head, names } = options
  const { id, time, bundle_identifier, device_uuid } = head
  const { unique_user_id, api_key_id, request_id, received_at, country } = options.columns
  return html`<dl>
    <dt>Application</dt>
    <dd>${applicationLink(bundle_identifier)}</dd>
    <dt>User</dt>
    <dd>
      ${listLink(kind, { user: String(unique_user_id) }, clientText(String(unique_user_id), 300))}
    </dd>
    <dt>Device</dt>
    <dd class="mono">
      ${device_uuid}<br />${deviceLink('logs', head, 'all events')},
      ${deviceLink('feedback', head, 'all feedback')}
    </dd>
    ${
      typeof country === 'string'
        ? html`<dt>Country</dt>
            <dd>${clientText(country, 10)}</dd>`
        : undefined
    }
    <dt>API key</dt>
    <dd>${keyName(String(api_key_id), names)}</dd>
    <dt>Request</dt>
    <dd class="mono"><a href="/find?id=${String(request_id)}">${String(request_id)}</a></dd>
    <dt>Id</dt>
    <dd class="mono">${id}</dd>
    <dt>Arrived</dt>
    <dd>${String(received_at)}, ${delay(msOf(String(received_at)) - msOf(time))}</dd>
  </dl>`
}

const delay = (ms: number): string => {
  if (Math.abs(ms) < 1_000) return 'at once'
  return ms < 0
    ? `${shortDuration(-ms / 1_000)} before it happened`
    : `${shortDuration(ms / 1_000)} after it happened`
}

/** Shows what the device did around a record, as marks on a line of time and as a list. */
function timeline({ around }: RecordWithEvents, head: RecordHead, isFeedback: boolean): Html {
  const atMs = msOf(head.time)
  const rows = [...around.after, ...around.before]
  const near = rows
    .map(({ time, event }) => ({ t: msOf(time), isBad: isBadEvent(event) }))
    .filter(({ t }) => Math.abs(t - atMs) <= stripMs)
  const times = [atMs, ...near.map(({ t }) => t)]
  const marginMs = 60_000
  const what = isFeedback ? 'this feedback' : 'this event'
  const picture =
    near.length === 0
      ? undefined
      : strip({
          fromMs: Math.min(...times) - marginMs,
          toMs: Math.max(...times) + marginMs,
          atMs,
          at: what,
          marks: near,
          label:
            `${near.length} ${plural(near.length, 'event')} of this device around ${what}, at most ${eventsAroundMax} before and ${eventsAroundMax} after it ` +
            `and half an hour away, ${near.filter(({ isBad }) => isBad).length} of them bad. The list below has them.`,
        })
  const here = html`<li class="${isFeedback ? 'here fb' : 'here'}">
    <span class="ago">this</span>${timeElement(head.time, head.time.slice(11, 19))}<b>${what}</b>
  </li>`
  const rowOf = (row: EventSummary) =>
    html`<li class="${isBadEvent(row.event) ? 'bad' : ''}">
      <span class="ago">${distance(msOf(row.time) - atMs)}</span
      >${timeElement(row.time, row.time.slice(11, 19))}<a href="${exactPath('logs', row)}"
        >${clientText(row.event, 100)}</a
      >
      <div>${paramList(row.params_start)}</div>
    </li>`
  return card(
    html`What this device did
      <small>the nearest ${eventsAroundMax} events before and after</small>`,
    html`${picture}
      <ol class="time-line">
        ${around.after.map(rowOf)}${here}${around.before.map(rowOf)}
      </ol>
      <p class="pages">
        ${deviceLink('logs', head, 'All events of this device')}${deviceLink('feedback', head, 'All its feedback')}
      </p>`,
  )
}

const distance = (ms: number): string => {
  const printed = shortDuration(Math.abs(ms) / 1_000)
  return ms < 0 ? `−${printed}` : `+${printed}`
}
