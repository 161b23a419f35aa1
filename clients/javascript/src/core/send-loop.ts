import type { State } from './core.ts'
import { retryAfterMsMax } from './limits.ts'
import { onPause } from './sending.ts'

/**
 * The result of one request. If neither `retryAfterMs` nor `stop` is set, the next request follows
 * at once.
 * - `isAccepted`: the server accepted at least one of the records.
 * - `retryAfterMs`: the records have no final result. Pause for this time or, if it is 0, for a
 * time that the loop chooses.
 * - `stop`: the reason why nothing more may be sent.
 */
export interface Sent {
  isAccepted?: boolean
  retryAfterMs?: number | undefined
  stop?: string
}

export interface SendLoop {
  /**
   * Sends until no record waits, as soon as the client has started.
   *
   * @param isUrgent if true, sends even during a pause after a failure, but not during a pause that
   *   the server asked for
   */
  wake(isUrgent?: boolean): void
  /**
   * A promise that resolves when the loop next ends or pauses; undefined if nothing is being sent.
   */
  sending(): Promise<void> | undefined
  /** Whether the server has asked the client to wait, and that time has not passed yet. */
  isHeld(): boolean
  close(): void
}

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
