import { systemClock, untilWholeSecond, type Clock, type Timer } from './clock.ts'

const firstRetryMs = 100

/**
 * Calls `poll` at once, and about `intervalMs` after each poll has settled, at a whole second
 * (`untilWholeSecond`). Until the first success the intervals are shorter: 100 ms, then doubled.
 *
 * @param options.onError called when a poll rejects, unless polling has been closed
 */
export function startPolling(options: {
  poll: () => Promise<void>
  intervalMs: number
  onError: (error: unknown) => void
  clock?: Clock
}) {
  const { poll, intervalMs, onError, clock = systemClock } = options
  let hasSucceeded = false
  let isClosed = false
  let timer: Timer | undefined
  let endPause = () => {}

  async function run(): Promise<void> {
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(2 * retryMs, intervalMs)) {
      try {
        await poll()
        hasSucceeded = true
      } catch (error) {
        if (!isClosed) onError(error)
      }
      if (!isClosed) {
        await new Promise<void>((resolve) => {
          endPause = resolve
          timer = clock.setTimeout(
            resolve,
            hasSucceeded ? untilWholeSecond(intervalMs, clock) : retryMs,
          )
        })
      }
      if (isClosed) return
    }
  }
  void run()

  /** Polls at once, unless a poll is in progress. */
  const pollNow = () => {
    clock.clearTimeout(timer)
    endPause()
  }
  return {
    pollNow,
    close(): void {
      isClosed = true
      pollNow()
    },
  }
}
