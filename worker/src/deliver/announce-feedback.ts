import { createDeliverySink, feedbackWebhook } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import type { Logger } from '@intake/runtime/process'

const help = 'docs/operations/webhook-fails.md'
/**
 * Queues a request of the webhook for each row of stored feedback, if a console wants that; rows
 * that were queued before are ignored.
 *
 * @param options.redis a connection of the role `consumer`
 * @returns `announce`, which takes rows as lines of JSON. If it rejects, pass them again
 */
export function createFeedbackAnnouncer(options: {
  redis: Redis
  log: Logger
  onError: (error: Error) => void
  onFailed: (detail: string) => void
}): { announce(rows: readonly string[]): Promise<void>; close(): Promise<void> } {
  const { redis, log, onError, onFailed } = options
  const sink = createDeliverySink({ redis, queue: feedbackWebhook, onError })
  return {
    async announce(rows) {
      const deliveries = rows.map((row) => {
        const { id, api_key_id } = JSON.parse(row) as { id: string; api_key_id: string }
        return { id, sender: api_key_id }
      })
      const omitted = await sink.add(deliveries)
      if (omitted === 0) return
      onFailed('too many requests wait; new feedback is not announced')
      log.error({ omitted, help }, 'too many webhook requests wait; new feedback is not announced')
    },
    close: () => sink.close(),
  }
}
