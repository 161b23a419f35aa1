interface Reply {
  isOk: boolean
  status: number
  headers: Headers
  text: string
}

/** Resolves to undefined if there is no response in time, for example while nothing listens. */
export async function tryFetch(
  url: string,
  timeoutMs: number,
  request: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Reply | undefined> {
  try {
    const response = await fetch(url, {
      ...request,
      headers: { ...request.headers, connection: 'close' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { ok: isOk, status, headers } = response
    return { isOk, status, headers, text: await response.text() }
  } catch {
    return undefined
  }
}
