import { feedbackWebhook } from '@intake/queue/consume'
import { writeFeedback } from './forms/index.ts'
import { readFeedback } from './read-feedback.ts'
import { NotVisibleError, startWebhook, type WebhookOptions } from './start-webhook.ts'

/** Sends a request for each feedback that workers announce, as the view shows it then. */
export function startFeedbackWebhook(
  options: WebhookOptions & { queue?: typeof feedbackWebhook },
): { close(): Promise<void> } {
  const { reader, pageUrl } = options
  return startWebhook({
    queue: feedbackWebhook,
    ...options,
    async read(id) {
      const feedback = await readFeedback(reader, id)
      if (feedback === undefined) {
        throw new NotVisibleError('the feedback is not visible yet, or was erased')
      }
      const { bundle_identifier: bundle } = feedback
      return { bundle, write: (receiver) => writeFeedback(feedback, { ...receiver, pageUrl }) }
    },
  })
}
