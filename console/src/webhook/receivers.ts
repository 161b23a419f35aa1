import { allowsBundle } from '@intake/access'
import type { WebhookReceiver } from '@intake/config'
import { sendWebhook } from './send-webhook.ts'
import { createTurns, requestsMax } from './turns.ts'

export type Receivers = ReturnType<typeof createReceivers>
export type Receiver = NonNullable<ReturnType<Receivers['of']>>

/** Creates the receivers, of which each has its own turns: one that hangs delays only itself. */
export function createReceivers(rows: readonly WebhookReceiver[]) {
  const receivers = rows.map(({ bundle, url, secret, token, ...shown }) => {
    const turns = createTurns()
    return {
      ...shown,
      bundles: bundle === undefined ? [] : [bundle],
      turns,
      /**
       * Posts a message. Rejects like `sendWebhook`, and with a `PostponedDelivery` while the
       * receiver has as many requests as it gets at once.
       */
      send: (message: { id: string; sender: string; body: string; signal: AbortSignal }) =>
        turns.take(message.sender, () => sendWebhook({ url, secret, token, ...message })),
    }
  })
  return {
    /** How many requests are sent at once, with a place that is free while all others hang. */
    atOnce: requestsMax * (rows.length + 1),

    /**
     * To be called before it is known which receiver stands for the application of a message,
     * because finding out costs a query.
     *
     * @throws {PostponedDelivery} if there is only one receiver, and it has no turn for the sender
     */
    requireTurn(sender: string): void {
      if (receivers.length === 1) receivers[0]?.turns.requireTurn(sender)
    },

    /** Returns the first receiver that stands for an application; undefined if none does. */
    of: (bundleIdentifier: string) =>
      receivers.find(({ bundles }) => allowsBundle(bundles, bundleIdentifier)),
  }
}
