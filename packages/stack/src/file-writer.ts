const retryMs = 2_000

export interface Writer {
  /** Writes now; when that fails, again every two seconds until it succeeds. */
  write(): void
  /** Ends the repetition. */
  stop(): void
}

/**
 * For a file that has to become right some time: a full disk is no reason to end.
 *
 * @param options.onError told of the first failure in a row
 */
export function createWriter(options: {
  write: () => void
  onError: (error: unknown) => void
}): Writer {
  let timer: NodeJS.Timeout | undefined

  function attempt() {
    const again = timer !== undefined
    clearTimeout(timer)
    timer = undefined
    try {
      options.write()
    } catch (error) {
      timer = setTimeout(attempt, retryMs)
      if (!again) options.onError(error)
    }
  }

  return {
    write: attempt,
    stop: () => clearTimeout(timer),
  }
}
