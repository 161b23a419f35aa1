export interface TemporaryCredentials {
  accessKey: string
  secretKey: string
  sessionToken: string
  /** When the credentials expire, in milliseconds since 1970. */
  expiresAtMs: number
}

/**
 * When less than this time is left, new credentials are loaded while requests still use the old
 * ones.
 */
const renewBeforeMs = 5 * 60_000
/**
 * When less than this time is left, requests wait for new credentials, because a request must
 * arrive before its credentials expire.
 */
const unusableBeforeMs = 30_000
/** The pause after a failed renewal, as long as the old credentials can be used. */
const retryMs = 10_000

/**
 * Returns a function that resolves to credentials that have not expired. They are loaded on demand,
 * once for all concurrent callers, and again before they expire. Rejects with the reason if none
 * can be loaded.
 *
 * @param options.wallMs the clock by which the credentials expire, in milliseconds since 1970
 */
export function renewCredentials(options: {
  load: () => Promise<TemporaryCredentials>
  wallMs?: () => number
}): () => Promise<TemporaryCredentials> {
  const { load, wallMs = () => Date.now() } = options
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
    // If this renewal fails, a later request tries again. Shortly before the expiry, requests wait
    // for the renewal and report why it fails.
    if (leftMs < renewBeforeMs && wallMs() >= notBeforeMs) renew().catch(() => undefined)
    return current
  }
}
