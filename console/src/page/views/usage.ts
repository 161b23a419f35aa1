import { dayMs } from '@intake/contract'
import { plural } from '@intake/runtime'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, percent, wholeNumber } from '../numbers.ts'
import type { PeriodName } from '../period.ts'
import type { NameCount } from '../read-counts.ts'
import { weeksMax, type Crash, type VersionSessions, type WeekDevices } from '../read-usage.ts'
import { table } from '../table.ts'
import { byName, listPath, recordPath, withApp } from './links.ts'
import { ago, badge, card, list, mute, nameLink } from './parts.ts'

/** A share of sessions without a crash, with the decimal that makes the difference. */
export const crashFreeOf = (sessions: readonly VersionSessions[]): string | undefined => {
  const all = sumOf(sessions, (one) => one.sessions)
  const free = sumOf(sessions, (one) => one.crashFree)
  // Rounds down: 99.96 % is not 100 %.
  return all === 0 ? undefined : `${(Math.floor((1_000 * free) / all) / 10).toFixed(1)} %`
}

const tooMany = (query: string): Html | undefined =>
  mute(
    html`Too many events to count this for a view: <a href="/help/queries#${query}">the query</a>.`,
  )

export function versionCard(options: {
  application: string
  period: PeriodName
  versions: readonly NameCount[]
  /** Undefined if counting them would read too much. */
  sessions: readonly VersionSessions[] | undefined
}): Html {
  const { application, period, versions, sessions } = options
  const rows = versions.map((version) => ({
    ...version,
    own: sessions?.filter((one) => one.version === version.name) ?? [],
  }))
  const hrefOf = (name: string) =>
    listPath('logs', { application, ...byName('version', name), period })
  return card(
    html`Versions <small>sessions without the event <code>crash</code></small>`,
    html`${table('Versions', rows, [
      ['Version', ({ name }) => nameLink(name, hrefOf(name))],
      ['Devices', ({ count }) => count, 'num'],
      ['Sessions', ({ own }) => own[0]?.sessions, 'num'],
      ['Crash-free', ({ own }) => crashFreeOf(own), 'num'],
    ])}
    ${sessions === undefined ? tooMany('crash-free-sessions-by-version') : undefined}`,
  )
}

export function weekCard(weeks: readonly WeekDevices[] | undefined, nowMs: number): Html {
  const later = Array.from({ length: weeksMax - 1 }, (_, index) => index + 1)
  const shareOf = ({ week, devices }: WeekDevices, n: number) =>
    (n + 1) * 7 * dayMs > nowMs - Date.parse(week)
      ? undefined
      : percent((devices[n] ?? 0) / Math.max(1, devices[0] ?? 0))
  return card(
    html`New devices, and who came back <small>weeks from Monday, UTC</small>`,
    weeks === undefined
      ? tooMany('weekly-retention')
      : table('New devices', weeks, [
          ['Week of', ({ week }) => week],
          ['New', ({ devices }) => devices[0], 'num'],
          ...later.map(
            (n) => [`${n} w later`, (week: WeekDevices) => shareOf(week, n), 'num'] as const,
          ),
        ]),
  )
}

export function crashCard(
  application: string,
  crashes: readonly Crash[] | undefined,
  { fromMs, nowMs }: { fromMs: number; nowMs: number },
): Html {
  const heading = html`Crashes by stack trace
    <a href="${listPath('logs', { application, event: 'crash' })}">all crashes</a>`
  const items = (crashes ?? []).map((crash) => {
    const { title, devices, events, first_version: first, last_version: last, newSinceMs } = crash
    const versions = first === last ? first : `${first} to ${last}`
    return html`<a href="${withApp(recordPath('logs', crash.example_id), application)}"
        >${title === '' ? 'without a stack trace' : clientText(title, 200)}</a
      >
      ${newSinceMs >= fromMs ? badge('new', 'danger') : undefined}
      <small
        >${wholeNumber(devices)} ${plural(devices, 'device')}, ${wholeNumber(events)}
        ${plural(events, 'event')}${versions === '' ? undefined : html`, version ${clientText(versions, 100)}`},
        first ${ago(newSinceMs, nowMs)}</small
      >`
  })
  return card(heading, list(items) ?? (crashes ? mute('None.') : tooMany('new-crashes')))
}
