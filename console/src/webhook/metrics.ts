import { metricsOf, type Registry } from '@intake/runtime/process'

const outcomes = ['delivered', 'failed', 'given_up', 'erased', 'no_receiver'] as const
type WebhookOutcome = (typeof outcomes)[number]

export function createWebhookMetrics(registry: Registry): (outcome: WebhookOutcome) => void {
  const requests = metricsOf(registry).counter(
    'intake_webhook_requests_total',
    'Requests to the webhook, by outcome: delivered, failed, given_up, erased or no_receiver. Workers have no_room.',
    ['outcome'],
    outcomes.map((outcome) => ({ outcome })),
  )
  return (outcome) => requests.inc({ outcome })
}
