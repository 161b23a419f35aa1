import { quantity } from '@intake/runtime'
import { isBadEvent } from '../bad-events.ts'
import { clientText, html, type Html } from '../html.ts'
import { eventsAroundMax } from '../list-records.ts'
import { sumOf, shortDuration } from '../numbers.ts'
import type { EventSummary, FullRecord } from '../records.ts'
import { clockElement, deviceLink, exactPath, msOf } from './links.ts'
import { paramList } from './params.ts'
import { card, details } from './parts.ts'

export interface RecordWithEvents {
  record: FullRecord
  /** Events of the record's device, newest first. */
  around: { before: readonly EventSummary[]; after: readonly EventSummary[] }
}

/** After a longer pause a new session begins, as in `intake.sessions`. */
const sessionMs = 30 * 60_000

export function timeline({ record, around }: RecordWithEvents, app: string | undefined): Html {
  const { columns } = record
  const rows = [...around.before.toReversed(), undefined, ...around.after.toReversed()]
  return card(
    html`What this device did
      <small>the nearest ${eventsAroundMax} events before and after, earliest first</small>`,
    html`${sessionsOf(rows, msOf(columns.time)).map((session) => {
        const line = html`<ol class="time-line">
          ${session.map((moment) => momentRow(moment, record, app))}
        </ol>`
        if (session.some(({ row }) => row === undefined)) return line
        const events = sumOf(session, ({ times }) => times)
        const isEarlier = session[0]!.distanceMs < 0
        const nearest = isEarlier ? session.at(-1)! : session[0]!
        return details(
          html`${shortDuration(Math.abs(nearest.distanceMs) / 1_000)}
            ${isEarlier ? 'earlier' : 'later'}: <small>${quantity(events, 'event')}</small>`,
          line,
        )
      })}
      <p class="pages">
        ${deviceLink('logs', columns, 'All events of this device')}${deviceLink('feedback', columns, 'All its feedback')}
      </p>`,
  )
}

/** An event or, if `row` is undefined, the record itself. */
interface Moment {
  row: EventSummary | undefined
  times: number
  distanceMs: number
}

/** Folds repeats, and divides the events at the pauses between sessions. */
function sessionsOf(rows: readonly (EventSummary | undefined)[], recordMs: number): Moment[][] {
  const sessions: Moment[][] = []
  let lastMs = -Infinity
  for (const row of rows) {
    const distanceMs = row === undefined ? 0 : msOf(row.time) - recordMs
    if (distanceMs - lastMs > sessionMs) sessions.push([])
    lastMs = distanceMs
    const last = sessions.at(-1)?.at(-1)
    const isRepeat =
      row !== undefined &&
      last?.row?.event === row.event &&
      last.row.params_start === row.params_start
    if (isRepeat) last.times++
    else sessions.at(-1)?.push({ row, times: 1, distanceMs })
  }
  return sessions
}

function momentRow(
  { row, times, distanceMs }: Moment,
  { kind, columns }: FullRecord,
  app: string | undefined,
): Html {
  const isFeedback = row === undefined && kind === 'feedback'
  const event = row?.event ?? String(columns['event'])
  const mark = isFeedback ? 'fb' : isBadEvent(event) ? 'bad' : ''
  const name = isFeedback ? 'this feedback' : clientText(event, 100)
  const sign = distanceMs < 0 ? '−' : '+'
  const distance = row ? `${sign}${shortDuration(Math.abs(distanceMs) / 1_000)}` : 'this'
  const params = row && html`${times > 1 && html`<b>×${times}</b> `}${paramList(row.params_start)}`
  return html`<li class="${row ? mark : `here ${mark}`}">
    <span class="ago">${distance}</span
    >${clockElement((row ?? columns).time)}${row ? html`<a href="${exactPath('logs', row, app)}">${name}</a>` : html`<b>${name}</b>`}
    ${params && html`<div>${params}</div>`}
  </li>`
}
