import { createDeliverySink, feedbackWebhook } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { metricsOf, type Logger, type Registry } from '@intake/runtime/process'

const help = 'docs/operations/webhook-fails.md'
const outcomes = [{ outcome: 'no_room' }]

/** Returns a function that counts requests to the webhook that this worker could not queue. */
export function createAnnounceMetrics(registry: Registry): (count: number) => void {
  const requests = metricsOf(registry).counter(
    'intake_webhook_requests_total',
    'Requests to the webhook, by outcome. Workers have no_room: too many requests wait.',
    ['outcome'],
    outcomes,
  )
  return (count) => requests.inc({ outcome: 'no_room' }, count)
}

/**
 * Queues a request of the webhook for each row of stored feedback, if a console wants that; rows
 * that were queued before are ignored.
 *
 * @param options.redis a connection of the role `consumer`
 * @returns `announce`, which takes rows as lines of JSON. If it rejects, pass them again
 */
export function createFeedbackAnnouncer(options: {
  redis: Redis
  metrics: Registry
  log: Logger
  onError: (error: Error) => void
  onFailed: (detail: string) => void
}): { announce(rows: readonly string[]): Promise<void>; close(): Promise<void> } {
  const { redis, log, onError, onFailed } = options
  const countOmitted = createAnnounceMetrics(options.metrics)
  const sink = createDeliverySink({ redis, queue: feedbackWebhook, onError })
  return {
    async announce(rows) {
      const deliveries = rows.map((row) => {
        const { id, api_key_id } = JSON.parse(row) as { id: string; api_key_id: string }
        return { id, sender: api_key_id }
      })
      const omitted = await sink.add(deliveries)
      if (omitted === 0) return
      countOmitted(omitted)
      onFailed('too many requests wait; new feedback is not announced')
      log.error({ omitted, help }, 'too many webhook requests wait; new feedback is not announced')
    },
    close: () => sink.close(),
  }
}
