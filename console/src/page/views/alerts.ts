import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { RaisedAlert } from '../read-alerts.ts'
import { applicationPath } from './links.ts'
import { ago, badge, card, list, mute } from './parts.ts'

const shownMax = 10

export const alertName = ({ event }: RaisedAlert): Html | string =>
  event === '' ? 'a new crash' : clientText(event, 100)

export function alertCard(alerts: readonly RaisedAlert[], nowMs: number): Html | undefined {
  if (alerts.length === 0) return undefined
  const items = alerts
    .slice(0, shownMax)
    .map(
      (one) =>
        html`${badge(one.state, one.state === 'firing' ? 'danger' : 'warning')}
          <a href="${applicationPath(one.bundle_identifier)}">${alertName(one)}</a> of
          ${clientText(one.bundle_identifier, 100)}, ${ago(one.since * 1_000, nowMs)}`,
    )
  const more = alerts.length - items.length
  return card(
    html`Alerts <small>intake alerts show</small>`,
    html`${list(items)} ${mute(more > 0 && `and ${wholeNumber(more)} more`)}`,
  )
}
