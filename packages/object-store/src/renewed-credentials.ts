export interface TemporaryCredentials {
  accessKey: string
  secretKey: string
  sessionToken: string
  /** When the credentials expire, in milliseconds since 1970. */
  expiresAtMs: number
}

/** With less time left, new ones are loaded, while requests still use the old ones. */
const renewBeforeMs = 5 * 60_000
/** With less time left, requests wait: one must arrive before its credentials expire. */
const unusableBeforeMs = 30_000
/** The pause after a failed renewal. It ends early when the old credentials cannot be used. */
const retryMs = 10_000

/**
 * Returns a function that resolves to credentials that have not expired. It loads them at the first
 * call, and again before they expire. Concurrent callers share one load. Rejects with the reason if
 * no credentials can be loaded.
 *
 * @param options.wallMs the clock by which the credentials expire, in milliseconds since 1970
 */
export function renewCredentials(options: {
  load: () => Promise<TemporaryCredentials>
  wallMs?: () => number
}): () => Promise<TemporaryCredentials> {
  const { load, wallMs = Date.now } = options
  let current: TemporaryCredentials | undefined
  let loading: Promise<TemporaryCredentials> | undefined
  let notBeforeMs = 0

  const renew = () => {
    loading ??= load()
      .then(
        (loaded) => (current = loaded),
        (error: unknown) => {
          notBeforeMs = wallMs() + retryMs
          throw error
        },
      )
      .finally(() => (loading = undefined))
    return loading
  }

  return async () => {
    const leftMs = (current?.expiresAtMs ?? 0) - wallMs()
    if (current === undefined || leftMs < unusableBeforeMs) return renew()
    // This request still has usable credentials, so it ignores a failed renewal. A later request
    // tries again.
    if (leftMs < renewBeforeMs && wallMs() >= notBeforeMs) renew().catch(() => undefined)
    return current
  }
}
