import { allowsBundle } from '@intake/access'
import type { WebhookReceiver } from '@intake/config'
import { sendWebhook } from './send-webhook.ts'
import { createTurns, requestsMax } from './turns.ts'

export interface Receiver extends Pick<WebhookReceiver, 'form' | 'email'> {
  /**
   * Posts a message. Rejects like `sendWebhook`, and with a `PostponedDelivery` while the receiver
   * has as many requests as it gets at once.
   */
  send(message: { id: string; sender: string; body: string; signal: AbortSignal }): Promise<void>
}

export interface Receivers {
  /** How many requests are sent at once, with a place that is free while all others hang. */
  readonly atOnce: number
  /**
   * To be called before it is known which receiver stands for the application of a message, because
   * finding out costs a query.
   *
   * @throws {PostponedDelivery} if there is only one receiver, and it has no turn for the sender
   */
  requireTurn(sender: string): void
  /** Returns the first receiver that stands for an application; undefined if none does. */
  of(bundleIdentifier: string): Receiver | undefined
}

/** Creates the receivers, of which each has its own turns: one that hangs delays only itself. */
export function createReceivers(rows: readonly WebhookReceiver[]): Receivers {
  const receivers = rows.map(({ bundle, form, email, url, secret, token }) => {
    const turns = createTurns()
    const receiver: Receiver = {
      ...(form !== undefined && { form }),
      ...(email !== undefined && { email }),
      send: ({ sender, ...message }) =>
        turns.take(sender, () => sendWebhook({ url, secret, token, ...message })),
    }
    return { bundles: bundle === undefined ? [] : [bundle], receiver, turns }
  })
  return {
    atOnce: requestsMax * (rows.length + 1),
    requireTurn(sender) {
      if (receivers.length === 1) receivers[0]?.turns.requireTurn(sender)
    },
    of: (bundleIdentifier) =>
      receivers.find(({ bundles }) => allowsBundle(bundles, bundleIdentifier))?.receiver,
  }
}
