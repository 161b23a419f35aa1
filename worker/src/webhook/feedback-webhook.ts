import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { startDeliveryQueue } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { limitRepeats } from '@intake/runtime'
import type { Logger, Registry } from '@intake/runtime/process'
import { createWebhookMetrics } from './metrics.ts'
import { readFeedback, type StoredFeedback } from './read-feedback.ts'
import { sendWebhook } from './send-webhook.ts'

export interface FeedbackWebhook {
  /**
   * Queues a request for each row; rows that were queued before are ignored. Rejects if Redis does
   * not confirm the requests; the caller must then pass the rows again.
   *
   * @param rows rows of the feedback table, as lines of JSON
   */
  announce(rows: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** The name of the queue of webhook requests in Redis. */
const webhookQueue = 'feedback-webhook'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** The delays add up to about three days, as the Standard Webhooks specification recommends. */
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
/**
 * Feedback may be invisible because a replica lags. If it is still not visible after this many
 * attempts, it was erased.
 */
const invisibleAttemptsMax = 3
const help = 'docs/operations/webhook-fails.md'

/**
 * Sends a signed request for each new feedback, at least once. Its queue holds only ids: the
 * content is read from the view when it is sent, so erased feedback is not sent.
 *
 * @param options.token sent as `Authorization: Bearer`, for receivers that need one
 * @param options.writeBody from `createBodyWriter`
 * @param options.redis a connection of the role `consumer`
 */
export function startFeedbackWebhook(options: {
  url: string
  secret: string
  token?: string | undefined
  writeBody: (feedback: StoredFeedback) => string
  reader: Pick<ClickHouse, 'query'>
  redis: Redis
  metrics: Registry
  log: Logger
  onError: (error: Error) => void
  /**
   * Called when an attempt fails, except when ClickHouse cannot be read; when a request is given
   * up; and when too many requests wait.
   */
  onFailed: (detail: string) => void
  delaysMs?: readonly number[]
}): FeedbackWebhook {
  const { url, secret, token, writeBody, reader, redis, metrics, log, onError, onFailed } = options
  const count = createWebhookMetrics(metrics)
  const warn = limitRepeats((err, omitted) =>
    log.warn({ err, omitted, help }, 'a webhook request failed; it will be repeated'),
  )

  const queue = startDeliveryQueue({
    redis,
    name: webhookQueue,
    retryDelaysMs: options.delaysMs ?? retryDelaysMs,
    async deliver(id, { attempt, signal }) {
      const feedback = await readFeedback(reader, id)
      if (feedback === undefined) {
        if (attempt < invisibleAttemptsMax) throw new Error('the feedback is not visible yet')
        count('erased')
        return
      }
      await sendWebhook({ url, secret, token, id, body: writeBody(feedback), signal })
      count('delivered')
    },
    onFailed({ id, attempt, isLast, error: err }) {
      count(isLast ? 'given_up' : 'failed')
      // A failed read from ClickHouse does not mean that the receiver has a problem.
      if (isLast || !(err instanceof ClickHouseError)) {
        onFailed(isLast ? 'a request was given up' : 'a request failed; it will be repeated')
      }
      if (isLast) log.error({ err, id, attempt, help }, 'a webhook request was given up')
      else warn(err)
    },
    onError,
  })

  return {
    async announce(rows) {
      const deliveries = rows.map((row) => {
        const { id, api_key_id } = JSON.parse(row) as { id: string; api_key_id: string }
        return { id, sender: api_key_id }
      })
      const omitted = await queue.add(deliveries)
      if (omitted === 0) return
      count('no_room', omitted)
      onFailed('too many requests wait; new feedback is not announced')
      log.error({ omitted, help }, 'too many webhook requests wait; new feedback is not announced')
    },
    close: () => queue.close(),
  }
}
