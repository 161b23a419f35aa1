import { plural } from '@intake/runtime'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { Crash } from '../read-crashes.ts'
import { listPath, recordPath } from './links.ts'
import { ago, badge, card, list, mute } from './parts.ts'

export function crashCard(
  application: string,
  crashes: readonly Crash[],
  { fromMs, nowMs }: { fromMs: number; nowMs: number },
): Html {
  const heading = html`Crashes <small>by stack trace</small>
    <a href="${listPath('logs', { application, event: 'crash' })}">all crashes</a>`
  const items = crashes.map((crash) => {
    const { title, devices, events, first_version: first, last_version: last, newSinceMs } = crash
    const versions = first === last ? first : `${first} to ${last}`
    return html`<a href="${recordPath('logs', crash.example_id)}"
        >${title === '' ? 'without a stack trace' : clientText(title, 200)}</a
      >
      ${newSinceMs >= fromMs ? badge('new', 'danger') : undefined}
      <small
        >${wholeNumber(devices)} ${plural(devices, 'device')}, ${wholeNumber(events)}
        ${plural(events, 'event')}${versions === '' ? undefined : html`, version ${clientText(versions, 100)}`},
        first ${ago(newSinceMs, nowMs)}</small
      >`
  })
  return card(heading, items.length === 0 ? mute('None.') : list(items))
}
