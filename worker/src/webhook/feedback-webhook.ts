import type { ClickHouse } from '@intake/clickhouse'
import { startDeliveryQueue } from '@intake/queue'
import type { Redis } from '@intake/redis'
import { Counter, limitRepeats, type Logger, type Registry } from '@intake/runtime'
import { readFeedback } from './read-feedback.ts'
import { sendWebhook } from './send-webhook.ts'

export interface FeedbackWebhook {
  /**
   * Queues a request for each row; rows that were queued before are ignored. Rejects when Redis does not
   * confirm it; then the rows must be passed again.
   *
   * @param rows of the table of feedback, as lines of JSON
   */
  announce(rows: readonly string[]): Promise<void>
  close(): Promise<void>
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** About three days together, as the Standard Webhooks specification recommends. */
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
/** A feedback that is not visible yet may be on a replica that lags; after these attempts it was erased. */
const invisibleAttemptsMax = 3
const help = 'docs/operations/webhook-fails.md'

/**
 * Sends a signed request for each new feedback, at least once. Its queue holds ids only: what is sent is read
 * from the view at that moment, so an erased feedback is not sent.
 *
 * @param options.redis of the role `consumer`
 */
export function startFeedbackWebhook(options: {
  url: string
  secret: string
  reader: Pick<ClickHouse, 'query'>
  redis: Redis
  metrics: Registry
  log: Logger
  onError: (error: Error) => void
  delaysMs?: readonly number[]
}): FeedbackWebhook {
  const { url, secret, reader, redis, metrics, log, onError } = options
  const outcomes = new Counter({
    name: 'intake_webhook_requests_total',
    help: 'Requests to the webhook, by outcome: delivered, failed, given_up, no_room or erased.',
    labelNames: ['outcome'],
    registers: [metrics],
  })
  const warn = limitRepeats((err, omitted) =>
    log.warn({ err, omitted, help }, 'a webhook request failed; it will be repeated'),
  )

  const queue = startDeliveryQueue({
    redis,
    name: 'feedback-webhook',
    retryDelaysMs: options.delaysMs ?? retryDelaysMs,
    async deliver(id, { attempt, signal }) {
      const notice = await readFeedback(reader, id)
      if (notice === undefined) {
        if (attempt < invisibleAttemptsMax) throw new Error('the feedback is not visible yet')
        outcomes.inc({ outcome: 'erased' })
        return
      }
      await sendWebhook({ url, secret, id, body: JSON.stringify(notice), signal })
      outcomes.inc({ outcome: 'delivered' })
    },
    onFailed({ id, attempt, isLast, error: err }) {
      outcomes.inc({ outcome: isLast ? 'given_up' : 'failed' })
      if (isLast) log.error({ err, id, attempt, help }, 'a webhook request was given up')
      else warn(err)
    },
    onError,
  })

  return {
    async announce(rows) {
      const ids = rows.map((row) => (JSON.parse(row) as { id: string }).id)
      const omitted = await queue.add(ids)
      if (omitted === 0) return
      outcomes.inc({ outcome: 'no_room' }, omitted)
      log.error({ omitted, help }, 'too many webhook requests wait; new feedback is not announced')
    },
    close: () => queue.close(),
  }
}
