import { allowsBundle } from '@intake/access'
import type { WebhookReceiver } from '@intake/config'
import { PostponedDelivery } from '@intake/queue/consume'
import { sendWebhook } from './send-webhook.ts'

export type Receivers = ReturnType<typeof createReceivers>
export type Receiver = NonNullable<ReturnType<Receivers['of']>>

/** How many requests a receiver gets at once, and how many of them for one sender (API key). */
const requestsMax = 6
const senderRequestsMax = 2

/**
 * Creates the receivers. One that hangs delays only itself, and a sender of much feedback leaves
 * requests to the others.
 */
export function createReceivers(rows: readonly WebhookReceiver[]) {
  const receivers = rows.map(({ bundle, url, secret, token, ...shown }) => {
    /** Of the requests in progress. */
    const senders: string[] = []
    const isBusyFor = (sender: string) =>
      senders.length === requestsMax ||
      senders.filter((one) => one === sender).length === senderRequestsMax
    return {
      ...shown,
      bundles: bundle === undefined ? [] : [bundle],
      isBusyFor,
      /**
       * Posts a message. Rejects like `sendWebhook`, and with a `PostponedDelivery` while the
       * receiver has as many requests as it gets at once.
       */
      async send(message: { id: string; sender: string; body: string; signal: AbortSignal }) {
        const { sender } = message
        if (isBusyFor(sender)) throw new PostponedDelivery()
        senders.push(sender)
        try {
          await sendWebhook({ url, secret, token, ...message })
        } finally {
          senders.splice(senders.indexOf(sender), 1)
        }
      },
    }
  })
  return {
    /** How many requests are sent at once, with a place that is free while all others hang. */
    atOnce: requestsMax * (rows.length + 1),
    /** Whether it need not be found out, by a query, which one gets a message of the sender. */
    areBusyFor: (sender: string) => receivers.every(({ isBusyFor }) => isBusyFor(sender)),
    /** Returns the first receiver that stands for an application; undefined if none does. */
    of: (bundleIdentifier: string) =>
      receivers.find(({ bundles }) => allowsBundle(bundles, bundleIdentifier)),
  }
}
