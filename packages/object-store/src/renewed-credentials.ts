export interface TemporaryCredentials {
  accessKey: string
  secretKey: string
  sessionToken: string
  /** In milliseconds since 1970. */
  expiresAtMs: number
}

/** With less time left, new credentials are loaded while requests still use the old ones. */
const renewBeforeMs = 5 * 60_000
/**
 * With less time left, requests wait for new credentials, because a request must arrive before its
 * credentials expire.
 */
const unusableBeforeMs = 30_000
/** The pause after a failed renewal, as long as the old credentials can be used. */
const retryMs = 10_000

/**
 * Returns a function that resolves to credentials that have not expired. They are loaded on demand,
 * once for all concurrent callers, and again before they expire. Rejects with the reason if there
 * are none.
 *
 * @param options.now the clock by which they expire
 */
export function renewCredentials(options: {
  load: () => Promise<TemporaryCredentials>
  now?: () => number
}): () => Promise<TemporaryCredentials> {
  const { load, now = Date.now } = options
  let current: TemporaryCredentials | undefined
  let loading: Promise<TemporaryCredentials> | undefined
  let notBeforeMs = 0

  const renew = () => {
    loading ??= load()
      .then(
        (loaded) => (current = loaded),
        (error: unknown) => {
          notBeforeMs = now() + retryMs
          throw error
        },
      )
      .finally(() => (loading = undefined))
    return loading
  }

  return async () => {
    const leftMs = (current?.expiresAtMs ?? 0) - now()
    if (current === undefined || leftMs < unusableBeforeMs) return renew()
    // A failure is ignored: the next request tries again, and shortly before the expiry requests
    // report the reason.
    if (leftMs < renewBeforeMs && now() >= notBeforeMs) renew().catch(() => undefined)
    return current
  }
}
