import type { SendLoop, Sent } from './sent.ts'
import type { State } from './state.ts'
import { retryAfterMsMax } from './limits.ts'
import { onPause } from './sending.ts'

/**
 * Creates a loop that sends one request after another, and pauses after a failure. The longest
 * possible pause doubles with each failure in a row. Each pause has a random part, so that many
 * devices do not send at the same moment after an outage.
 *
 * @param send sends the oldest records; resolves to undefined if none can be sent
 */
export function createSendLoop(client: State, send: () => Promise<Sent | undefined>): SendLoop {
  const { time } = client.ports
  const { min = 1000, max = 900_000 } = client.options.retryMs || {}
  let failures = 0
  let sending: Promise<void> | undefined
  let isClosed = false
  /** Whether `wake` was called after the current call of `send`. */
  let isWoken = false
  let isOrdered = false
  let timer: unknown
  /** The time of the monotonic clock before which nothing is sent. */
  let notBefore = 0

  async function run(): Promise<void> {
    let sent: Sent | undefined
    await client.start()
    for (;;) {
      // A storage error is treated like a network error, so the records are kept.
      isWoken = false
      sent = isClosed ? undefined : await send().catch(() => ({ retryAfterMs: 0 }))
      if (sent ? sent.stop || sent.retryAfterMs !== undefined : !isWoken) break
      if (sent) failures = 0
    }
    sending = undefined
    if (sent && !sent.stop) pause(sent.retryAfterMs!)
    onPause(client, sent && sent.stop)
  }

  function pause(retryAfterMs: number): void {
    const reach = Math.min(max, min * Math.pow(2, ++failures))
    isOrdered = retryAfterMs > 0
    arm(
      isOrdered
        ? Math.min(retryAfterMs, retryAfterMsMax) * (1 + Math.random() / 2)
        : min + Math.random() * Math.max(0, reach - min),
    )
  }

  function arm(ms: number): void {
    time.clearTimeout(timer)
    notBefore = time.monotonic() + ms
    if (!isClosed) timer = time.setTimeout(() => wake(), ms, true)
  }

  function wake(isUrgent?: boolean): void {
    isWoken = true
    if (sending || isClosed) return
    const ms = notBefore - time.monotonic()
    if (ms > 1 && (isOrdered || !isUrgent)) return arm(ms)
    time.clearTimeout(timer)
    sending = run()
  }

  return {
    wake,
    sending: () => sending,
    isHeld: () => isOrdered && notBefore > time.monotonic(),
    close() {
      isClosed = true
      time.clearTimeout(timer)
    },
  }
}
