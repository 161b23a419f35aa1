import { errorCatalogue, type ErrorCode } from '@intake/contract'
import { chart, legendKey, spark } from '../charts.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, wholeNumber } from '../numbers.ts'
import type { OverviewData } from '../overview.ts'
import { periods, type PeriodName, type Steps } from '../period.ts'
import type { Arrivals, KeyOutcome } from '../read-outcomes.ts'
import { stepAt } from '../search.ts'
import { table } from '../table.ts'
import { clockElement, listPath } from './links.ts'
import { compared, mute, tile } from './parts.ts'

export type KeyNames = ReadonlyMap<string, string>

const arrivalSeries = ['events', 'feedback', 'refused'] as const

export function arrivalChart(points: readonly Arrivals[], steps: Steps): Html {
  const names = arrivalSeries.map((name) => {
    const total = sumOf(points, (point) => point[name])
    return [name, `${name} ${wholeNumber(total)}`] as const
  })
  return chart({
    points,
    stepMs: steps.stepMs,
    columns: arrivalSeries.map((name) => [name, name]),
    label: `Records by arrival: ${names.map(([, name]) => name).join(', ')}.`,
    legend: html`<p class="legend">
      ${names.map(([series, name]) => legendKey(series, name))}<span
        >The last bar is not complete yet.</span
      >
    </p>`,
    href: (from) => listPath('logs', stepAt(from, steps)),
    completeUntilMs: points.at(-1)?.t,
  })
}

/** Refusals that their title in the catalogue of errors does not explain to whoever sent them. */
const meanings: Readonly<Record<string, string>> = {
  unauthorized: 'API key missing or wrong',
  preflight_refused: 'preflights of web pages from other origins: CORS_ORIGINS is not set',
}

export function senderName({ api_key_id }: KeyOutcome, names: KeyNames): Html {
  return api_key_id === '' ? html`without a key` : keyName(api_key_id, names)
}

export function meaningOf(code: string): Html {
  const printed = html`<code>${clientText(code, 100)}</code>`
  const meaning =
    meanings[code] ?? (code in errorCatalogue ? errorCatalogue[code as ErrorCode].title : undefined)
  return meaning === undefined ? printed : html`${meaning} <small>${printed}</small>`
}

export function keyName(id: string, names: KeyNames): Html {
  const name = names.get(id)
  const shown = name !== undefined && html`${clientText(name, 100)} · `
  return html`${shown}<span class="mono">${clientText(id, 100)}</span>`
}

const refusalsMax = 8

export const refusalList = (refusals: readonly KeyOutcome[], names: KeyNames): Html =>
  html`${table('Refused', refusals.slice(0, refusalsMax), [
    ['Meaning', ({ code }) => meaningOf(code)],
    ['Records', ({ records }) => records, 'num'],
    ['Key', (refusal) => senderName(refusal, names)],
    ['Last', ({ last }) => clockElement(last), 'num'],
  ])}${mute(refusals.length > refusalsMax && `The ${refusalsMax} most frequent.`)}`

/** A warning if more than one record of a hundred was refused. */
export function refusedTile(data: OverviewData, period: PeriodName): Html {
  const series = data.arrivals.map((point) => point.refused)
  const refused = sumOf(series, (records) => records)
  const accepted = sumOf(data.arrivals, ({ events, feedback }) => events + feedback)
  const reason = data.refusals[0]?.code
  return tile({
    title: 'Refused',
    value: series.length === 0 ? '–' : wholeNumber(refused),
    note: html`${compared(refused - (series.at(-1) ?? 0), data.refusedBefore)} last
    ${periods[period].name}${reason && html`; mostly <a href="#refused">${meaningOf(reason)}</a>`}`,
    chart: spark(series, { series: 'refused' }),
    isWarning: refused > 0.01 * (accepted + refused),
  })
}
