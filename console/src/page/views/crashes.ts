import { plural } from '@intake/runtime'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { Crash } from '../read-crashes.ts'
import { listPath, recordPath } from './links.ts'
import { ago, badge, card } from './parts.ts'

/** The crashes of an application in a period that begins at `fromMs`. */
export function crashCard(
  application: string,
  crashes: readonly Crash[],
  { fromMs, nowMs }: { fromMs: number; nowMs: number },
): Html {
  const heading = html`Crashes <small>by stack trace</small>
    <a href="${listPath('logs', { application, event: 'crash' })}">all crashes</a>`
  if (crashes.length === 0) return card(heading, html`<p class="mute">None.</p>`, 'card wide')
  const rows = crashes.map((crash) => {
    const { title, devices, events, first_version: first, last_version: last, newSinceMs } = crash
    const versions = first === last ? first : `${first} to ${last}`
    return html`<li>
      <a href="${recordPath('logs', crash.example_id)}"
        >${title === '' ? 'without a stack trace' : clientText(title, 200)}</a
      >
      ${newSinceMs >= fromMs ? badge('new', 'danger') : undefined}
      <small
        >${wholeNumber(devices)} ${plural(devices, 'device')}, ${wholeNumber(events)}
        ${plural(events, 'event')}${versions === '' ? undefined : html`, version ${clientText(versions, 100)}`},
        first ${ago(newSinceMs, nowMs)}</small
      >
    </li>`
  })
  return card(
    heading,
    html`<ul class="look">
      ${rows}
    </ul>`,
    'card wide',
  )
}
