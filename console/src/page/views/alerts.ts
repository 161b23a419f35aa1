import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { RaisedAlert } from '../read-alerts.ts'
import { applicationPath } from './links.ts'
import { ago, badge, card } from './parts.ts'

const shownMax = 10

/** What an alert is about, in words. */
export const alertName = ({ event }: RaisedAlert): Html | string =>
  event === '' ? 'a new crash' : clientText(event, 100)

/** The alerts that fire or are unknown; undefined if there is none. */
export function alertCard(alerts: readonly RaisedAlert[], nowMs: number): Html | undefined {
  if (alerts.length === 0) return undefined
  const rows = alerts.slice(0, shownMax).map(
    (one) =>
      html`<li>
        ${badge(one.state, one.state === 'firing' ? 'danger' : 'warning')}
        <a href="${applicationPath(one.bundle_identifier)}">${alertName(one)}</a> of
        ${clientText(one.bundle_identifier, 100)}, ${ago(one.since * 1_000, nowMs)}
      </li>`,
  )
  const more = alerts.length - rows.length
  return card(
    html`Alerts <small>intake alerts show</small>`,
    html`<ul class="look">
        ${rows}
      </ul>
      ${more > 0 ? html`<p class="mute">and ${wholeNumber(more)} more</p>` : undefined}`,
    'card wide',
  )
}
