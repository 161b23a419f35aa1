import { dayMs } from '@intake/contract'
import { html, type Html } from '../html.ts'
import { percent, wholeNumber } from '../numbers.ts'
import type { PeriodName } from '../period.ts'
import type { NameCount } from '../read-counts.ts'
import { weeksMax, type VersionSessions, type WeekDevices } from '../read-usage.ts'
import { byName, listPath } from './links.ts'
import { card, nameLink, table } from './parts.ts'

/** A share of sessions without a crash, with the decimal that makes the difference. */
export const crashFreeOf = (sessions: readonly VersionSessions[]): string | undefined => {
  const all = sessions.reduce((sum, one) => sum + one.sessions, 0)
  const free = sessions.reduce((sum, one) => sum + one.crashFree, 0)
  // Rounds down: 99.96 % is not 100 %.
  return all === 0 ? undefined : `${(Math.floor((1_000 * free) / all) / 10).toFixed(1)} %`
}

const weekMs = 7 * dayMs

const tooMany = (query: string): Html =>
  html`<p class="mute">
    Too many events to count this for a view: <a href="/help/queries#${query}">the query</a>.
  </p>`

/** The versions with most devices, with their sessions. */
export function versionCard(options: {
  application: string
  period: PeriodName
  versions: readonly NameCount[]
  /** Undefined if counting them would read too much. */
  sessions: readonly VersionSessions[] | undefined
}): Html {
  const { application, period, versions, sessions } = options
  const rows = versions.map(({ name, count }) => {
    const own = sessions?.find(({ version }) => version === name)
    return html`<tr>
      <td>
        ${nameLink(name, listPath('logs', { application, ...byName('version', name), period }))}
      </td>
      <td class="num" data-label="Devices">${wholeNumber(count)}</td>
      <td class="num" data-label="Sessions">${own && wholeNumber(own.sessions)}</td>
      <td class="num" data-label="Crash-free">${own && crashFreeOf([own])}</td>
    </tr>`
  })
  return card(
    html`Versions <small>sessions without the event <code>crash</code></small>`,
    html`${table(
      'Versions',
      html`<th>Version</th>
        <th class="num">Devices</th>
        <th class="num">Sessions</th>
        <th class="num">Crash-free</th>`,
      rows,
    )}
    ${sessions === undefined ? tooMany('crash-free-sessions-by-version') : undefined}`,
  )
}

/** How many devices were new in each week, and how many of them came back. */
export function weekCard(weeks: readonly WeekDevices[] | undefined, nowMs: number): Html {
  const later = Array.from({ length: weeksMax - 1 }, (_, index) => index + 1)
  const rows = (weeks ?? []).map(({ week, devices }) => {
    const [first = 0] = devices
    const past = Math.floor((nowMs - Date.parse(week)) / weekMs)
    return html`<tr>
      <td>${week}</td>
      <td class="num" data-label="New">${wholeNumber(first)}</td>
      ${later.map((n) => html`<td class="num" data-label="${n} w later">${n > past ? undefined : percent((devices[n] ?? 0) / Math.max(1, first))}</td>`)}
    </tr>`
  })
  return card(
    html`New devices, and who came back <small>weeks from Monday, UTC</small>`,
    weeks === undefined
      ? tooMany('weekly-retention')
      : table(
          'New devices',
          html`<th>Week of</th>
            <th class="num">New</th>
            ${later.map((n) => html`<th class="num">${n} w later</th>`)}`,
          rows,
        ),
  )
}
