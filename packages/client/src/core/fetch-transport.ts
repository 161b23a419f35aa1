import { prefixOf } from './prefix.ts'
import type { Answer, OutgoingRequest, TimeSource, Transport } from './ports.ts'
import { textBytes } from './text-bytes.ts'

/**
 * Timeouts for a request with its response. A form may contain pictures, so its upload takes
 * longer.
 */
const timeoutMs = { text: 30_000, form: 180_000 }
/** Bodies with fewer characters are sent uncompressed, because compression saves little. */
const gzipBytesMin = 1000
/**
 * The maximum size of the bodies of all open requests that may outlive their page, in bytes.
 * Browsers allow 64 KiB; Chromium does not send 66,000 bytes.
 */
const keepaliveBytesMax = 60_000

export interface FetchTransport {
  transport: Transport
  /** The largest body, in bytes, that a request may have to outlive the page. */
  keepaliveBytes(): number
}

/**
 * Sends with `fetch`. Compresses bodies if the platform can, until the server refuses one because
 * of its compression (415).
 *
 * @param options.gzip undefined if the platform cannot compress
 */
export function createFetchTransport(options: {
  url: string
  apiKey: string
  fetch: typeof fetch
  time: Pick<TimeSource, 'setTimeout' | 'clearTimeout'>
  gzip?: ((text: string) => Promise<Uint8Array>) | undefined
  hasKeepalive?: boolean
}): FetchTransport {
  const { apiKey, time, hasKeepalive } = options
  const prefix = prefixOf(options.url)
  let { gzip } = options
  let keptAlive = 0

  async function send(request: OutgoingRequest, packed?: Uint8Array): Promise<Answer> {
    const { path, body } = request
    const isText = typeof body === 'string'
    const bytes = packed ? packed.length : isText ? textBytes(body) : Infinity
    const keepalive = hasKeepalive === true && keptAlive + bytes <= keepaliveBytesMax
    const abort = typeof AbortController === 'undefined' ? undefined : new AbortController()
    const headers: Record<string, string> = { 'x-api-key': apiKey }
    if (isText) headers['content-type'] = 'application/json'
    else headers['prefer'] = 'handling=lenient'
    if (packed) headers['content-encoding'] = 'gzip'
    const init = {
      method: 'POST',
      headers,
      body: packed || body,
      credentials: 'omit',
      // Redirects are not followed, because the API key would be sent to another server. A redirect
      // counts as a failed attempt.
      redirect: 'manual',
      keepalive,
      signal: abort && abort.signal,
    } as RequestInit
    if (keepalive) keptAlive += bytes
    let timer: unknown
    try {
      return await Promise.race([
        options.fetch(prefix + path, init).then(readAnswer),
        new Promise<never>((_, reject) => {
          timer = time.setTimeout(
            () => {
              if (abort) abort.abort()
              reject(new Error('timeout'))
            },
            isText ? timeoutMs.text : timeoutMs.form,
          )
        }),
      ])
    } finally {
      time.clearTimeout(timer)
      if (keepalive) keptAlive -= bytes
    }
  }

  return {
    async transport(request) {
      const { body, isLast } = request
      // Compression is asynchronous, and the end of a page leaves no time for that.
      if (!gzip || isLast || typeof body !== 'string' || body.length < gzipBytesMin)
        return send(request)
      const answer = await send(request, await gzip(body))
      if (answer.status !== 415) return answer
      gzip = undefined
      return send(request)
    },
    keepaliveBytes: () => (hasKeepalive ? keepaliveBytesMax - keptAlive : 0),
  }
}

async function readAnswer(response: Response): Promise<Answer> {
  return {
    status: response.status,
    body: await response.text(),
    date: response.headers.get('date'),
    retryAfter: response.headers.get('retry-after'),
  }
}
