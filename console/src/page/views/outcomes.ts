import { legendKey, lanes, spark } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { Steps } from '../period.ts'
import type { Arrivals, KeyOutcome } from '../read-outcomes.ts'
import { listPath } from './links.ts'

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
      ${legendKey('events', 'events')}${legendKey('feedback', 'feedback')}${legendKey('refused', 'refused')}<span
        >pale: not over yet</span
      >
    </p>`,
    href: (from) => listPath('logs', { from: new Date(from), to: new Date(from + stepMs) }),
    unfinishedMs: last?.t,
    ticks: 8,
    lanes: [
      {
        title: 'Events',
        total: totals.events,
        columns: [{ key: 'events', series: 'events', name: 'events' }],
        height: 104,
      },
      {
        title: 'Feedback',
        total: totals.feedback,
        columns: [{ key: 'feedback', series: 'feedback', name: 'feedback' }],
        height: 34,
        ticks: 1,
      },
      {
        title: 'Refused',
        total: totals.refused,
        columns: [{ key: 'refused', series: 'refused', name: 'refused' }],
        height: 44,
        ticks: 2,
      },
    ],
  })
}

/** Says whose requests were refused with a code, if no API key was found valid before. */
const withoutKey: Readonly<Record<string, string>> = {
  unauthorized: 'no valid key',
  preflight_refused: 'preflights of web pages from other origins: CORS_ORIGINS is not set',
}

/** Shows whose records had an outcome: the API key or, without one, what is known instead. */
export function senderName({ api_key_id, code }: KeyOutcome, names: KeyNames): Html {
  if (api_key_id !== '') return keyName(api_key_id, names)
  return html`${withoutKey[code] ?? 'refused before the API key was checked'}`
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

export function refusalList(
  refusals: readonly KeyOutcome[],
  { names, hasCharts }: { names: KeyNames; hasCharts: boolean },
): Html {
  if (refusals.length === 0) return html`<p class="mute">Nothing was refused.</p>`
  const items = refusals.slice(0, refusalsMax).map(
    (refusal) =>
      html`<li>
        <b>${wholeNumber(refusal.records)}</b
        ><span
          ><code>${clientText(refusal.code, 100)}</code><br /><span class="mute"
            >${senderName(refusal, names)}</span
          ></span
        >${hasCharts ? spark(refusal.series, { series: 'refused', height: 22 }) : undefined}
      </li>`,
  )
  const cut =
    refusals.length <= refusalsMax
      ? undefined
      : html`<p class="mute">The ${refusalsMax} most frequent.</p>`
  return html`<ul class="why">
      ${items}
    </ul>
    ${cut}`
}
