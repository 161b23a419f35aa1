import { start } from './kept.ts'
import { retryAfterMsMax } from './limits.ts'
import { settle } from './sending.ts'
import type { SendLoop, Sent } from './sent.ts'
import type { State } from './state.ts'

/**
 * Creates a loop that sends one request after another, and pauses after a failure. The longest
 * possible pause doubles with each failure in a row. Each pause has a random part, so that many
 * devices do not send at the same moment after an outage. When the client has stopped or ended, the
 * next `wake` ends the loop's timer.
 *
 * @param send sends the oldest records; resolves to undefined if none can be sent
 */
export const createSendLoop = (
  client: State,
  send: (client: State) => Promise<Sent | undefined>,
): SendLoop => {
  const { min = 1000, max = 900_000 } = client.options.retryMs || {}
  let reachMs = min
  let sending: Promise<void> | undefined
  /** Whether `wake` was called after the current call of `send`. */
  let isWoken = false
  let isOrdered = false
  let timer: unknown
  /** The time of the monotonic clock before which nothing is sent. */
  let notBefore = 0

  const isClosed = () => client.stopReason || client.isShut

  const run = async (): Promise<void> => {
    let sent: Sent | undefined
    await start(client)
    for (;;) {
      // A storage error is treated like a network error, so the records are kept.
      isWoken = false
      sent = isClosed() ? undefined : await send(client).catch(() => ({ retryAfterMs: 0 }))
      if (sent ? sent.retryAfterMs !== undefined : !isWoken) break
      if (sent) reachMs = min
    }
    sending = undefined
    if (sent) pause(sent.retryAfterMs!)
    settle(client)
  }

  const pause = (retryAfterMs: number): void => {
    reachMs = Math.min(max, reachMs * 2)
    isOrdered = retryAfterMs > 0
    notBefore =
      client.monotonic() +
      (isOrdered
        ? Math.min(retryAfterMs, retryAfterMsMax) * (1 + Math.random() / 2)
        : min + Math.random() * (reachMs - min))
    wake()
  }

  const wake = (isUrgent?: boolean): void => {
    isWoken = true
    if (sending) return
    client.clearTimeout(timer)
    if (isClosed()) return
    const ms = notBefore - client.monotonic()
    if (ms > 1 && (isOrdered || !isUrgent)) timer = client.setTimeout(wake, ms, true)
    else sending = run()
  }

  return {
    wake,
    sending: () => sending,
    isHeld: () => isOrdered && notBefore > client.monotonic(),
  }
}
