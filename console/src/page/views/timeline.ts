import { isBadEvent } from '../bad-events.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { eventsAroundMax } from '../list-records.ts'
import { shortDuration } from '../numbers.ts'
import type { EventSummary, FullRecord, RecordHead } from '../records.ts'
import { clockElement, deviceLink, exactPath, msOf } from './links.ts'
import { paramList } from './params.ts'
import { card } from './parts.ts'

export interface RecordWithEvents {
  record: FullRecord
  /** Events of the record's device, newest first. */
  around: { before: readonly EventSummary[]; after: readonly EventSummary[] }
}

/** After a longer pause a new session begins, as in `intake.sessions`. */
const sessionMs = 30 * 60_000

/** Shows what the device did around a record. */
export function timeline(
  found: RecordWithEvents,
  { head, app }: { head: RecordHead; app: string | undefined },
): Html {
  const { around } = found
  const atMs = msOf(head.time)
  const rows = [...around.before.toReversed(), undefined, ...around.after.toReversed()]
  return card(
    html`What this device did
      <small>the nearest ${eventsAroundMax} events before and after, earliest first</small>`,
    html`<ol class="time-line">
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
        <span class="ago">this</span>${clockElement(head.time)}<b>${name}</b>
      </li>`
  }
  return html`${pause}
    <li class="${isBad ? 'bad' : ''}">
      <span class="ago">${distance(distanceMs)}</span>${clockElement(row.time)}<a
        href="${exactPath('logs', row, app)}"
        >${clientText(event, 100)}</a
      >
      <div>${times > 1 ? html`<b>×${times}</b> ` : undefined}${paramList(row.params_start)}</div>
    </li>`
}

const distance = (ms: number): string => {
  const printed = shortDuration(Math.abs(ms) / 1_000)
  return ms < 0 ? `−${printed}` : `+${printed}`
}
