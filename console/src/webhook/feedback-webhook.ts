import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { feedbackWebhook, startDeliveries } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { limitRepeats } from '@intake/runtime'
import type { Logger, Registry } from '@intake/runtime/process'
import { writeFeedback } from './forms/index.ts'
import { createWebhookMetrics } from './metrics.ts'
import { readFeedback } from './read-feedback.ts'
import type { Receivers } from './receivers.ts'

/**
 * Feedback may be invisible because a replica lags. If it is still not visible after this many
 * attempts, it was erased.
 */
const invisibleAttemptsMax = 3
const help = 'docs/operations/webhook-fails.md'

/**
 * Sends a signed request for each feedback that workers announce, at least once. The queue holds
 * only ids: the content is read from the view when it is sent, so erased feedback is not sent. The
 * receiver is looked up by the application then, too.
 *
 * @param options.pageUrl the address of the page, for links in messages for people
 * @param options.redis a connection of the role `consumer`
 */
export function startFeedbackWebhook(options: {
  receivers: Receivers
  pageUrl?: string | undefined
  reader: Pick<ClickHouse, 'query'>
  redis: Redis
  metrics: Registry
  log: Logger
  onError: (error: Error) => void
  /** Called when an attempt fails, except when ClickHouse cannot be read, or a request is given up. */
  onFailed: (detail: string) => void
  delaysMs?: readonly number[]
}): { close(): Promise<void> } {
  const { receivers, pageUrl, reader, redis, metrics, log, onError, onFailed } = options
  const count = createWebhookMetrics(metrics)
  const warn = limitRepeats((err, omitted) =>
    log.warn({ err, omitted, help }, 'a webhook request failed; it will be repeated'),
  )

  const queue = { ...feedbackWebhook, ...(options.delaysMs && { retryDelaysMs: options.delaysMs }) }
  return startDeliveries({
    redis,
    queue,
    atOnce: receivers.atOnce,
    async deliver(id, { attempt, signal }) {
      const feedback = await readFeedback(reader, id)
      if (feedback === undefined) {
        if (attempt < invisibleAttemptsMax) throw new Error('the feedback is not visible yet')
        count('erased')
        return
      }
      const receiver = receivers.of(feedback.bundle_identifier)
      if (receiver === undefined) {
        count('no_receiver')
        return
      }
      const body = writeFeedback(feedback, { ...receiver, pageUrl })
      await receiver.send({ id, body, signal })
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
}
