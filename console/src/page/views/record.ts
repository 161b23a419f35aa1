import { plural } from '@intake/runtime'
import { strip } from '../charts.ts'
import { isBadEvent } from '../bad-events.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { eventsAroundMax } from '../list-records.ts'
import { shortDuration } from '../numbers.ts'
import type { EventSummary, FullRecord, RecordHead } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { columnList, isEmpty } from './columns.ts'
import { document } from './document.ts'
import {
  applicationLink,
  deviceLink,
  exactPath,
  listLink,
  msOf,
  timeElement,
  withApp,
} from './links.ts'
import { keyName, type KeyNames } from './outcomes.ts'
import { paramList } from './params.ts'
import { ago, card } from './parts.ts'
import { deviceSentence, feedbackPane, firstLine } from './feedback-pane.ts'
import type { SignPicture } from './pictures.ts'

export interface RecordWithEvents {
  record: FullRecord
  /** Events of the record's device, newest first. */
  around: { before: readonly EventSummary[]; after: readonly EventSummary[] }
}

/** The strip shows events from this long before the record to this long after it. */
const stripMs = 30 * 60_000
/** After a longer pause a new session begins, as in `intake.sessions`. */
const sessionMs = 30 * 60_000

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
    attachments: _,
    attachment_count: __,
    text,
    email: ___,
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
  const isFeedback = kind === 'feedback'
  const path = isFeedback ? '/feedback' : '/events'
  const main = isFeedback
    ? html`<article class="card wide big">${feedbackPane({ header, columns, sign })}</article>`
    : card('Params', columnList((params ?? {}) as Record<string, unknown>, 1), 'card wide')
  const record = identity({ kind, columns: found.record.columns, head, names })
  return document({
    header,
    view: isFeedback ? 'feedback' : 'events',
    title: isFeedback ? 'One feedback' : 'One event',
    heading: html`${clientText(isFeedback ? firstLine(String(text)) || 'No text' : String(event), 300)}
      <small>${timeElement(time, time)} UTC, ${ago(msOf(time), header.nowMs)}</small>`,
    crumbs: html`<a href="${withApp(path, header.app)}">${isFeedback ? 'Feedback' : 'Events'}</a
      >${isFeedback ? undefined : html` · ${listLink('logs', { application: bundle_identifier, event: String(event) }, 'all of this event')}`}`,
    body: html`${isFeedback ? main : undefined}
      <div class="grid g31">
        <div>${isFeedback ? undefined : main} ${timeline(found, { head, app: header.app })}</div>
        <aside class="side">
          ${card('Record', record)}
          ${card(
            html`Device
              <small
                >${clientText(deviceSentence((device ?? {}) as Record<string, unknown>), 300)}</small
              >`,
            html`<details>
              <summary>All its fields</summary>
              ${columnList((device ?? {}) as Record<string, unknown>)}
            </details>`,
          )}
          ${Object.values(rest).every(isEmpty) ? undefined : card('Other fields', columnList(rest))}
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
    <dd class="mono"><a href="/search?q=${String(request_id)}">${String(request_id)}</a></dd>
    <dt>Id</dt>
    <dd class="mono">${id}</dd>
    <dt>Arrived</dt>
    <dd>${String(received_at)}, ${delay(msOf(String(received_at)) - msOf(time))}</dd>
  </dl>`
}

const delay = (ms: number): string => {
  if (Math.abs(ms) < 1_000) return 'within a second'
  return ms < 0
    ? `${shortDuration(-ms / 1_000)} before it happened`
    : `${shortDuration(ms / 1_000)} after it happened`
}

/** Shows what the device did around a record, as marks on a line of time and as a list. */
function timeline(
  found: RecordWithEvents,
  { head, app }: { head: RecordHead; app: string | undefined },
): Html {
  const { around } = found
  const isFeedback = found.record.kind === 'feedback'
  const atMs = msOf(head.time)
  const near = [...around.after, ...around.before]
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
  const rows = [...around.before.toReversed(), undefined, ...around.after.toReversed()]
  return card(
    html`What this device did
      <small>the nearest ${eventsAroundMax} events before and after, earliest first</small>`,
    html`${picture}
      <ol class="time-line">
        ${moments(rows, atMs).map((moment) => timeLineRow(moment, found.record, { head, app }))}
      </ol>
      <p class="pages">
        ${deviceLink('logs', head, 'All events of this device')}${deviceLink('feedback', head, 'All its feedback')}
      </p>`,
  )
}

/** One line of the time line: an event or, if undefined, the record itself. */
interface Moment {
  row: EventSummary | undefined
  atMs: number
  /** How long nothing happened before it; 0 if it belongs to the same session. */
  gapMs: number
  /** How many equal events follow each other here. */
  times: number
  /** The time from the record to it. */
  distanceMs: number
}

/** Folds repeats, and finds the pauses between sessions. */
function moments(rows: readonly (EventSummary | undefined)[], recordMs: number): Moment[] {
  const found: Moment[] = []
  let lastMs: number | undefined
  for (const row of rows) {
    const atMs = row === undefined ? recordMs : msOf(row.time)
    const pause = lastMs === undefined ? 0 : atMs - lastMs
    const gapMs = pause > sessionMs ? pause : 0
    const last = found.at(-1)
    const isRepeat =
      gapMs === 0 &&
      row !== undefined &&
      last?.row?.event === row.event &&
      last.row.params_start === row.params_start
    if (isRepeat) last.times++
    else found.push({ row, atMs, gapMs, times: 1, distanceMs: atMs - recordMs })
    lastMs = atMs
  }
  return found
}

function timeLineRow(
  { row, gapMs, times, distanceMs }: Moment,
  { kind, columns }: FullRecord,
  { head, app }: { head: RecordHead; app: string | undefined },
): Html {
  const pause =
    gapMs > 0 ? html`<li class="gap">${shortDuration(gapMs / 1_000)} later</li>` : undefined
  const event = row?.event ?? String(columns['event'])
  const isBad = (row !== undefined || kind === 'logs') && isBadEvent(event)
  if (row === undefined) {
    const name = kind === 'feedback' ? html`this feedback` : clientText(event, 100)
    const classes = kind === 'feedback' ? 'here fb' : isBad ? 'here bad' : 'here'
    return html`${pause}
      <li class="${classes}">
        <span class="ago">this</span>${timeElement(head.time, head.time.slice(11, 19))}<b
          >${name}</b
        >
      </li>`
  }
  return html`${pause}
    <li class="${isBad ? 'bad' : ''}">
      <span class="ago">${distance(distanceMs)}</span
      >${timeElement(row.time, row.time.slice(11, 19))}<a href="${exactPath('logs', row, app)}"
        >${clientText(event, 100)}</a
      >
      <div>${times > 1 ? html`<b>×${times}</b> ` : undefined}${paramList(row.params_start)}</div>
    </li>`
}

const distance = (ms: number): string => {
  const printed = shortDuration(Math.abs(ms) / 1_000)
  return ms < 0 ? `−${printed}` : `+${printed}`
}
