const retryMs = 2_000

export interface Writer {
  /** Writes now; if that fails, retries every two seconds until it succeeds. */
  write(): void
  stop(): void
}

/**
 * Creates a writer that retries until its file is up to date. A failure, for example because of a
 * full disk, does not end the process.
 *
 * @param options.onError called with the first error of a series of failures
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
