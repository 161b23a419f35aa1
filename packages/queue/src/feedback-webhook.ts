import type { DeliveryQueue } from './deliveries.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** They add up to about three days, as the Standard Webhooks specification recommends. */
const retryDelaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

/** The queue of webhook requests: workers add the ids of stored feedback, consoles send them. */
export const feedbackWebhook: DeliveryQueue = { name: 'feedback-webhook', retryDelaysMs }
