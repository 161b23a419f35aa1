import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { PostponedDelivery, startDeliveries, type feedbackWebhook } from '@intake/queue/consume'
import type { Redis } from '@intake/redis'
import { createWarning, type Logger } from '@intake/runtime/process'
import type { Receiver, Receivers } from './receivers.ts'

export interface WebhookOptions {
  receivers: Receivers
  /** The address of the page, for links in messages for people. */
  pageUrl?: string | undefined
  reader: Pick<ClickHouse, 'query'>
  /** A connection of the role `consumer`. */
  redis: Redis
  log: Logger
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
 * @param options.failed the log line for an attempt that failed; `givenUp` is the one for the last
 * @param options.read resolves to undefined if there is nothing to send
 * @param options.onNoReceiver called if no receiver stands for the application
 */
export function startWebhook(
  options: WebhookOptions & {
    queue: typeof feedbackWebhook
    failed: string
    givenUp: string
    help: string
    read: (id: string, attempt: number) => Promise<Outgoing | undefined>
    onNoReceiver: () => void
    count?: (outcome: 'delivered' | 'failed' | 'given_up') => void
  },
): { close(): Promise<void> } {
  const { receivers, redis, queue, log, help, onError, onFailed } = options
  const { count = () => undefined } = options
  const warn = createWarning(log, help, options.failed)
  return startDeliveries({
    redis,
    queue,
    atOnce: receivers.atOnce,
    async deliver(id, { sender, attempt, signal }) {
      if (receivers.areBusyFor(sender)) throw new PostponedDelivery()
      const outgoing = await options.read(id, attempt)
      if (outgoing === undefined) return
      const receiver = receivers.of(outgoing.bundle)
      if (receiver === undefined) return options.onNoReceiver()
      await receiver.send({ id, sender, body: outgoing.write(receiver), signal })
      count('delivered')
    },
    onFailed({ id, attempt, isLast, error: err }) {
      count(isLast ? 'given_up' : 'failed')
      // What ClickHouse cannot show, or does not show yet, is no problem of the receiver.
      if (isLast || !(err instanceof ClickHouseError || err instanceof NotVisibleError)) {
        onFailed(isLast ? 'a request was given up' : 'a request failed; it will be repeated')
      }
      if (isLast) log.error({ err, id, attempt, help }, options.givenUp)
      else warn(err)
    },
    onError,
  })
}
