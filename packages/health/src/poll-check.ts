import { startPolling, withTimeout, type Clock } from '@intake/runtime'

export type PolledCheck = ReturnType<typeof pollCheck>

/** Repeats a check that takes time, such as a request to a server, and remembers the result. */
export function pollCheck(options: {
  what: string
  check: () => Promise<void>
  intervalMs: number
  timeoutMs: number
  describe?: (error: unknown) => string
  clock?: Clock
}) {
  const { what, check, intervalMs, timeoutMs, describe = messageOf, clock } = options
  let problem: string | undefined = `${what} has not responded yet`
  let lastError: unknown
  let isChecking = false
  let isAskedAgain = false

  const polling = startPolling({
    async poll() {
      isChecking = true
      try {
        do {
          isAskedAgain = false
          await withTimeout(check(), timeoutMs, what, clock)
        } while (isAskedAgain)
        problem = lastError = undefined
      } finally {
        isChecking = false
      }
    },
    intervalMs,
    onError(error) {
      lastError = error
      problem = describe(error)
    },
    ...(clock && { clock }),
  })
  return {
    /** Why the last check failed, or that none has ended yet; undefined if it passed. */
    problem: () => problem,
    /** The error of the last check; undefined if it passed, and before the first has ended. */
    error: () => lastError,
    /** Checks at once; if a check is in progress, checks again after it. */
    checkNow(): void {
      if (isChecking) isAskedAgain = true
      else polling.pollNow()
    },
    close: polling.close,
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
