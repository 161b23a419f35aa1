import type { DeliveryQueue } from './deliveries.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** They add up to about three days, as the Standard Webhooks specification recommends. */
const feedbackDelaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
]

/** The queue of webhook requests: workers add the ids of stored feedback, consoles send them. */
export const feedbackWebhook: DeliveryQueue = {
  name: 'feedback-webhook',
  retryDelaysMs: feedbackDelaysMs,
}

/**
 * Messages about alerts, which consoles add and send. The delays add up to about three hours,
 * because an old message helps nobody.
 */
export const alertWebhook: DeliveryQueue = {
  name: 'alert-webhook',
  retryDelaysMs: [5 * second, minute, 5 * minute, 15 * minute, 40 * minute, 120 * minute],
}

/** Who the deliveries of alerts are counted for, where those of feedback have an API key. */
export const alertSender = 'alerts'

/** The message about a change has one id, so that each change is one message. */
export const changeDeliveryId = (alertId: string, change: number): string => `${alertId}-${change}`

/** The id of a message that only shows whether the receiver gets it. */
export const testDeliveryId = (alertId: string): string => `${alertId}-test${Date.now()}`

/** Returns the parts of an id; `change` is undefined for a test. */
export function parseAlertDeliveryId(id: string): { alertId: string; change: number | undefined } {
  const [alertId = '', change = ''] = id.split('-')
  return { alertId, change: /^\d+$/.test(change) ? Number(change) : undefined }
}
