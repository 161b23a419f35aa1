import { feedbackWebhook } from '@intake/queue/consume'
import { countOutcomes, type Registry } from '@intake/runtime/process'
import { writeFeedback } from './forms/index.ts'
import { readFeedback } from './read-feedback.ts'
import { NotVisibleError, startWebhook, type WebhookOptions } from './start-webhook.ts'

/**
 * Feedback may be invisible because a replica lags. If it is still not visible after this many
 * attempts, it was erased.
 */
const invisibleAttemptsMax = 3

export const createWebhookMetrics = (registry: Registry) =>
  countOutcomes(registry, {
    name: 'intake_webhook_requests_total',
    help: 'Requests to the webhook, by outcome: delivered, failed, given_up, erased or no_receiver. Workers have no_room.',
    outcomes: ['delivered', 'failed', 'given_up', 'erased', 'no_receiver'],
  })

/**
 * Sends a request for each feedback that workers announce, as the view shows it then.
 *
 * @param options.requireSame rejects if the feedback is stored elsewhere: it is then not erased
 */
export function startFeedbackWebhook(
  options: WebhookOptions & {
    requireSame: () => Promise<void>
    metrics: Registry
    delaysMs?: readonly number[]
  },
): { close(): Promise<void> } {
  const { reader, pageUrl, requireSame, metrics } = options
  const { delaysMs = feedbackWebhook.retryDelaysMs } = options
  const count = createWebhookMetrics(metrics)
  return startWebhook({
    ...options,
    queue: { ...feedbackWebhook, retryDelaysMs: delaysMs },
    failed: 'a webhook request failed; it will be repeated',
    givenUp: 'a webhook request was given up',
    help: 'docs/operations/webhook-fails.md',
    count,
    async read(id, attempt) {
      const feedback = await readFeedback(reader, id)
      if (feedback === undefined) {
        if (attempt < invisibleAttemptsMax)
          throw new NotVisibleError('the feedback is not visible yet')
        await requireSame()
        count('erased')
        return undefined
      }
      const { bundle_identifier: bundle } = feedback
      return { bundle, write: (receiver) => writeFeedback(feedback, { ...receiver, pageUrl }) }
    },
    onNoReceiver: () => count('no_receiver'),
  })
}
