import { prefixOf } from './prefix.ts'
import type { Answer, OutgoingRequest, TimeSource, Transport } from './ports.ts'
import { textBytes } from './text-bytes.ts'

export type Timers = Pick<TimeSource, 'setTimeout' | 'clearTimeout'>

/** Timeouts for a response. A form may contain pictures, whose upload takes longer. */
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
  time: Timers
  gzip?: ((text: string) => Promise<Uint8Array>) | undefined
  hasKeepalive?: boolean
  /** Default: `abortAfter`. */
  within?: typeof abortAfter
}): FetchTransport {
  const { apiKey, time, hasKeepalive, within = abortAfter } = options
  const prefix = prefixOf(options.url)
  let { gzip } = options
  let keptAlive = 0

  async function send(request: OutgoingRequest, packed?: Uint8Array): Promise<Answer> {
    const { path, body } = request
    const isText = typeof body === 'string'
    const bytes = packed ? packed.length : isText ? textBytes(body) : Infinity
    const keepalive = hasKeepalive === true && keptAlive + bytes <= keepaliveBytesMax
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
    } as RequestInit
    if (keepalive) keptAlive += bytes
    try {
      return await within(time, isText ? timeoutMs.text : timeoutMs.form, (signal) =>
        options.fetch(prefix + path, { ...init, signal }).then(readAnswer),
      )
    } finally {
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

/** Runs a request whose signal is aborted after `ms`. */
export async function abortAfter<Result>(
  time: Timers,
  ms: number,
  run: (signal: AbortSignal | null) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController()
  const timer = time.setTimeout(() => abort.abort(), ms)
  try {
    return await run(abort.signal)
  } finally {
    time.clearTimeout(timer)
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
