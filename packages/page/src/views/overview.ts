import { kinds, type RecordKind } from '@intake/contract'
import { html, type Html } from '../html.ts'
import type { Overview } from '../overview.ts'
import { document } from './document.ts'

const names = { logs: 'Events', feedback: 'Feedback' } as const

export function overviewView(overview: Overview): Html {
  return document({
    title: 'Overview',
    body: html`<div class="scroll" role="region" aria-label="Rates and backlog" tabindex="0">
        <table>
          <caption>
            Rates and backlog
          </caption>
          <thead>
            <tr>
              <th scope="col"></th>
              <th scope="col">Accepted, last full minute</th>
              <th scope="col">Accepted, last hour</th>
              <th scope="col">Frames waiting</th>
              <th scope="col">in progress</th>
              <th scope="col">postponed</th>
              <th scope="col">Rows</th>
              <th scope="col">Oldest, s</th>
              <th scope="col">Drained in, s</th>
            </tr>
          </thead>
          <tbody>
            ${kinds.map((kind) => row(kind, overview))}
          </tbody>
        </table>
      </div>
      <p>
        ${overview.deadLetters === 0 ? 'No dead letters.' : html`<a href="/dead-letters">${overview.deadLetters} dead letters</a>`}
      </p>
      ${kinds.map((kind) => hours(kind, overview))}`,
  })
}

function row(kind: RecordKind, { rates, backlogs }: Overview): Html {
  const { lastMinute, lastHour } = rates[kind]
  const backlog = backlogs[kind]
  const frames =
    backlog === undefined
      ? html`<td colspan="6">Redis does not respond</td>`
      : html`<td>${backlog.waiting}</td>
          <td>${backlog.active}</td>
          <td>${backlog.delayed}</td>
          <td>${backlog.rows}</td>
          <td>${seconds(backlog.oldestAgeSeconds)}</td>
          <td>${seconds(backlog.secondsToDrain)}</td>`
  return html`<tr>
    <th scope="row">${names[kind]}</th>
    <td>${lastMinute}</td>
    <td>${lastHour}</td>
    ${frames}
  </tr> `
}

function seconds(value = Infinity): string {
  return Number.isFinite(value) ? String(Math.ceil(value)) : '–'
}

function hours(kind: RecordKind, { rates }: Overview): Html {
  const counts = rates[kind].hours
  const most = Math.max(1, ...counts.map(({ records }) => records))
  const rows = counts.toReversed().map(
    ({ hour, records }) =>
      html`<tr>
        <th scope="row">${hour.slice(0, 16)}</th>
        <td>${records}</td>
        <td><meter min="0" max="${most}" value="${records}">${records}</meter></td>
      </tr> `,
  )
  return html`<details${kind === 'feedback' ? html`` : html` open`}><summary>${names[kind]} by hour</summary>
<table>
<thead><tr><th scope="col">Hour of the record (UTC)</th><th scope="col">Records</th><th scope="col"></th></tr></thead>
<tbody>
${rows}</tbody>
</table></details>
`
}
