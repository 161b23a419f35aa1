import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { PostponedDelivery, startDeliveries, type feedbackWebhook } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { countOutcomes, createWarning, type Logger, type Registry } from '@intake/runtime/process'
import type { Receiver, Receivers } from './receivers.ts'

const help = 'docs/operations/webhook-fails.md'

export const createWebhookMetrics = (registry: Registry) =>
  countOutcomes(registry, {
    name: 'intake_webhook_requests_total',
    help: 'Requests to the webhook, by outcome: delivered, failed, given_up or no_receiver.',
    outcomes: ['delivered', 'failed', 'given_up', 'no_receiver'],
  })

export interface WebhookOptions {
  receivers: Receivers
  /** The address of the page, for links in messages for people. */
  pageUrl?: string | undefined
  reader: Pick<ClickHouse, 'query'>
  /** A connection of the role `consumer`. */
  redis: Redis
  log: Logger
  count: ReturnType<typeof createWebhookMetrics>
  onError: (error: Error) => void
  /** Called when the receiver fails, or a request is given up. */
  onFailed: (detail: string) => void
}

/** What a request is about is not visible in ClickHouse yet, or no longer. */
export class NotVisibleError extends Error {}

/** What a request says, in the form of its receiver. */
export interface Outgoing {
  bundle: string
  write: (receiver: Receiver) => string
}

/**
 * Sends a signed request for each id of a queue, at least once. The queue holds only ids: what a
 * request says, and who gets it, is looked up for each attempt.
 *
 * @param options.onNoReceiver called if no receiver stands for the application
 */
export function startWebhook(
  options: WebhookOptions & {
    queue: typeof feedbackWebhook
    read: (id: string) => Promise<Outgoing>
    onNoReceiver?: () => void
  },
): { close(): Promise<void> } {
  const { receivers, redis, queue, log, count, onError, onFailed } = options
  const warn = createWarning(log, help, 'a webhook request failed; it will be repeated')
  return startDeliveries({
    redis,
    queue,
    atOnce: receivers.atOnce,
    async deliver(id, { sender, signal }) {
      if (receivers.areBusyFor(sender)) throw new PostponedDelivery()
      const { bundle, write } = await options.read(id)
      const receiver = receivers.of(bundle)
      if (receiver === undefined) {
        count('no_receiver')
        return options.onNoReceiver?.()
      }
      await receiver.send({ id, sender, body: write(receiver), signal })
      count('delivered')
    },
    onFailed({ id, attempt, isLast, error: err }) {
      count(isLast ? 'given_up' : 'failed')
      // What ClickHouse cannot show, or does not show yet, is no problem of the receiver.
      if (isLast || !(err instanceof ClickHouseError || err instanceof NotVisibleError)) {
        onFailed(isLast ? 'a request was given up' : 'a request failed; it will be repeated')
      }
      if (isLast) log.error({ err, id, attempt, help }, 'a webhook request was given up')
      else warn(err)
    },
    onError,
  })
}
