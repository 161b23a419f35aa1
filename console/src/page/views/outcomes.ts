import { errorCatalogue, type ErrorCode } from '@intake/contract'
import { chart, legendKey } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { sumOf, wholeNumber } from '../numbers.ts'
import type { Steps } from '../period.ts'
import type { Arrivals, KeyOutcome } from '../read-outcomes.ts'
import { stepAt } from '../search.ts'
import { table } from '../table.ts'
import { clockElement, listPath } from './links.ts'
import { mute } from './parts.ts'

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
    label: `Records by arrival: ${names.map(([, name]) => name).join(', ')}. The table below has every step.`,
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
