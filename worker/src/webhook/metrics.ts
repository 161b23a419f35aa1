import { metricsOf, type Registry } from '@intake/runtime/process'

const outcomes = ['delivered', 'failed', 'given_up', 'no_room', 'erased'] as const
type WebhookOutcome = (typeof outcomes)[number]

export function createWebhookMetrics(
  registry: Registry,
): (outcome: WebhookOutcome, count?: number) => void {
  const requests = metricsOf(registry).counter(
    'intake_webhook_requests_total',
    'Requests to the webhook, by outcome: delivered, failed, given_up, no_room or erased.',
    ['outcome'],
    outcomes.map((outcome) => ({ outcome })),
  )
  return (outcome, count = 1) => requests.inc({ outcome }, count)
}
