import { retryAfterMsMax } from './limits.ts'
import type { TimeSource } from './ports.ts'

/**
 * What became of one request. `done`: go on at once. `later`: nothing was settled; pause. `stop`: send
 * nothing more.
 */
export type Sent =
  | { next: 'done' }
  | { next: 'later'; retryAfterMs?: number | undefined }
  | { next: 'stop'; reason: string }

export interface SendLoop {
  /**
   * Sends until nothing is left.
   *
   * @param isUrgent ends the pause after a failure, but not one that the server asked for
   */
  wake(isUrgent?: boolean): void
  isRunning(): boolean
  close(): void
}

/**
 * Sends one request after the other, with pauses that double after failures: a random part of them,
 * so that the devices of a fleet do not return together.
 *
 * @param options.send sends the oldest; undefined: nothing waits
 * @param options.onPause called whenever it ends or pauses
 */
export function createSendLoop(options: {
  time: TimeSource
  retryMs: { min: number; max: number }
  send: () => Promise<Sent | undefined>
  onPause: (stopped: string | undefined) => void
}): SendLoop {
  const { time, retryMs, send, onPause } = options
  let failures = 0
  let isRunning = false
  let isClosed = false
  let timer: unknown
  /** By the monotonic clock. */
  let notBefore = 0
  let isOrdered = false

  async function run(): Promise<void> {
    isRunning = true
    let stopped: string | undefined
    try {
      for (;;) {
        const sent = isClosed ? undefined : await send()
        if (!sent) break
        if (sent.next === 'done') failures = 0
        else if (sent.next === 'stop') {
          stopped = sent.reason
          isClosed = true
        } else {
          pause(sent.retryAfterMs)
          break
        }
      }
    } catch {
      // Storage failed in a way that its port does not allow; the records are still there.
      pause(undefined)
    }
    isRunning = false
    onPause(stopped)
  }

  function pause(retryAfterMs: number | undefined): void {
    const { min, max } = retryMs
    const reach = Math.min(max, min * Math.pow(2, Math.min(++failures, 30)))
    const ms =
      retryAfterMs === undefined
        ? min + Math.random() * Math.max(0, reach - min)
        : Math.min(retryAfterMs, retryAfterMsMax) * (1 + Math.random() / 2)
    isOrdered = retryAfterMs !== undefined
    notBefore = time.monotonic() + ms
    arm(ms)
  }

  function arm(ms: number): void {
    if (isClosed) return
    time.clearTimeout(timer)
    timer = (time.setIdleTimeout || time.setTimeout)(() => wake(), ms)
  }

  function wake(isUrgent = false): void {
    if (isRunning || isClosed) return
    const ms = notBefore - time.monotonic()
    if (ms > 1 && !(isUrgent && !isOrdered)) return arm(ms)
    time.clearTimeout(timer)
    notBefore = 0
    void run()
  }

  return {
    wake,
    isRunning: () => isRunning,
    close() {
      isClosed = true
      time.clearTimeout(timer)
    },
  }
}
