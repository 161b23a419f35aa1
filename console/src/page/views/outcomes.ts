import { errorCatalogue, type ErrorCode } from '@intake/contract'
import { legendKey, lanes } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { Steps } from '../period.ts'
import type { Arrivals, KeyOutcome } from '../read-outcomes.ts'
import { clockElement, listPath } from './links.ts'
import { table } from './parts.ts'

export type KeyNames = ReadonlyMap<string, string>

export const sumOf = <Row>(rows: readonly Row[], valueOf: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + valueOf(row), 0)

/** Draws how many events, feedback and refusals arrived in each step. */
export function arrivalChart(points: readonly Arrivals[], { stepMs }: Steps): Html {
  const totals = {
    events: sumOf(points, ({ events }) => events),
    feedback: sumOf(points, ({ feedback }) => feedback),
    refused: sumOf(points, ({ refused }) => refused),
  }
  const last = points.at(-1)
  return lanes({
    points: points,
    stepMs,
    label:
      `Records by arrival. Events: ${wholeNumber(totals.events)}. Feedback: ${wholeNumber(totals.feedback)}. ` +
      `Refused: ${wholeNumber(totals.refused)}. The table below has every step.`,
    legend: html`<p class="legend">
      ${legendKey('events', `events ${wholeNumber(totals.events)}`)}${legendKey('feedback', `feedback ${wholeNumber(totals.feedback)}`)}${legendKey('refused', `refused ${wholeNumber(totals.refused)}`)}<span
        >Click a bar to see its records. The last bar is not over yet.</span
      >
    </p>`,
    href: (from) => listPath('logs', { from: new Date(from), to: new Date(from + stepMs) }),
    unfinishedMs: last?.t,
    ticks: 8,
    lanes: [
      {
        columns: [
          { key: 'events', series: 'events', name: 'events' },
          { key: 'feedback', series: 'feedback', name: 'feedback' },
          { key: 'refused', series: 'refused', name: 'refused' },
        ],
        height: 120,
      },
    ],
  })
}

/** Refusals that their title in the catalogue of errors does not explain to whoever sent them. */
const meanings: Readonly<Record<string, string>> = {
  unauthorized: 'API key missing or wrong',
  preflight_refused: 'preflights of web pages from other origins: CORS_ORIGINS is not set',
}

/** Shows whose records had an outcome: the API key or, without one, what is known instead. */
export function senderName({ api_key_id }: KeyOutcome, names: KeyNames): Html {
  return api_key_id === '' ? html`without a key` : keyName(api_key_id, names)
}

/** Says what an outcome means, with its code. */
export function meaningOf(code: string): Html {
  const printed = html`<code>${clientText(code, 100)}</code>`
  const meaning =
    meanings[code] ?? (code in errorCatalogue ? errorCatalogue[code as ErrorCode].title : undefined)
  return meaning === undefined ? printed : html`${meaning} <small>${printed}</small>`
}

/** Shows the name and the id of an API key. */
export function keyName(id: string, names: KeyNames): Html {
  const name = names.get(id)
  return html`${name === undefined ? undefined : html`${clientText(name, 100)} · `}<span
      class="mono"
      >${clientText(id, 100)}</span
    >`
}

const refusalsMax = 8

/** A table of the most frequent refusals: meaning, count, key and last time. */
export function refusalList(refusals: readonly KeyOutcome[], names: KeyNames): Html {
  if (refusals.length === 0) return html`<p class="mute">Nothing was refused.</p>`
  const rows = refusals.slice(0, refusalsMax).map(
    (refusal) =>
      html`<tr>
        <td>${meaningOf(refusal.code)}</td>
        <td class="num" data-label="Records">${wholeNumber(refusal.records)}</td>
        <td data-label="Key">${senderName(refusal, names)}</td>
        <td class="num" data-label="Last">${clockElement(refusal.last)}</td>
      </tr>`,
  )
  const cut =
    refusals.length <= refusalsMax
      ? undefined
      : html`<p class="mute">The ${refusalsMax} most frequent.</p>`
  return html`${table(
    'Refused',
    html`<th>Meaning</th>
      <th class="num">Records</th>
      <th>Key</th>
      <th class="num">Last</th>`,
    rows,
  )}
  ${cut}`
}
