const parentPollMs = 500
const oneRequestMs = 1000

export interface EndRequestHandlers {
  first(reason: string): void
  second(): void
}

/**
 * Calls `first` on SIGINT, SIGTERM or SIGHUP, or when the process that started this one has ended.
 * Calls `second` on a signal that comes more than a second after the call of `first`. Signals
 * within that second are ignored, because under npm one Ctrl-C sends two signals: one from the
 * terminal, and one that npm forwards.
 */
export function onEndRequest({ first, second }: EndRequestHandlers) {
  let requestedAt: number | undefined
  function request(reason: string) {
    const now = performance.now()
    if (requestedAt === undefined) {
      requestedAt = now
      clearInterval(poll)
      first(reason)
    } else if (now - requestedAt > oneRequestMs) {
      second()
    }
  }

  const parent = process.ppid
  const poll = setInterval(() => {
    if (process.ppid !== parent) request('The process that started Intake has ended')
  }, parentPollMs)
  poll.unref()
  process.on('SIGINT', () => request('SIGINT'))
  process.on('SIGTERM', () => request('SIGTERM'))
  process.on('SIGHUP', () => request('The terminal was closed'))
}
