import { prefixOf } from './prefix.ts'
import type { IntakeOptions } from './options.ts'
import type { Answer, OutgoingRequest, TimeSource, Transport } from './ports.ts'
import { textBytes } from './text-bytes.ts'

/** Timeouts for a response. A form may contain pictures, whose upload takes longer. */
const timeoutMs = { text: 30_000, form: 180_000 }
/** Bodies with fewer characters are sent uncompressed, because compression saves little. */
const gzipBytesMin = 1000
export interface FetchTransport {
  transport: Transport
  /** The maximum size, in bytes, of the next body whose request may outlive the page. */
  keepaliveBytes(): number
}

/** Sends a request and reads its response. Rejects if that takes longer than `ms`. */
export type Exchange = (url: string, init: RequestInit, ms: number) => Promise<Answer>

/**
 * Sends with `fetch`. Compresses bodies if the platform can, until the server refuses one because
 * of its compression (415).
 *
 * @param platform.gzip undefined if the platform cannot compress
 * @param platform.keepaliveBytesMax the maximum total size, in bytes, of the bodies of all open
 *   requests that may outlive their page
 */
export const createFetchTransport = (
  { url, apiKey }: IntakeOptions,
  platform: {
    exchange: Exchange
    gzip?: ((text: string) => Promise<BufferSource>) | undefined
    keepaliveBytesMax?: number
  },
): FetchTransport => {
  const { exchange, keepaliveBytesMax = 0 } = platform
  const prefix = prefixOf(url)
  let { gzip } = platform
  let keptAlive = 0

  const transport = async (request: OutgoingRequest): Promise<Answer> => {
    const { path, body, isLast } = request
    const isText = typeof body === 'string'
    // Compression is asynchronous, and the end of a page leaves no time for that.
    const packed =
      gzip && isText && !isLast && body.length >= gzipBytesMin ? await gzip(body) : undefined
    const bytes = packed ? packed.byteLength : isText ? textBytes(body) : Infinity
    const keepalive = keptAlive + bytes <= keepaliveBytesMax
    const headers: Record<string, string> = { 'x-api-key': apiKey }
    if (isText) headers['content-type'] = 'application/json'
    else headers['prefer'] = 'handling=lenient'
    if (packed) headers['content-encoding'] = 'gzip'
    const init = {
      method: 'POST',
      headers,
      body: packed || body,
      credentials: 'omit',
      // A redirect is not followed, but counts as a failed attempt. Following it would send the API
      // key to another server.
      redirect: 'manual',
      keepalive,
    } as RequestInit
    if (keepalive) keptAlive += bytes
    try {
      const answer = await exchange(prefix + path, init, isText ? timeoutMs.text : timeoutMs.form)
      if (!packed || answer.status !== 415) return answer
    } finally {
      if (keepalive) keptAlive -= bytes
    }
    gzip = undefined
    return transport(request)
  }

  return { transport, keepaliveBytes: () => keepaliveBytesMax - keptAlive }
}

/** Creates an `Exchange` that sends with `send` and aborts the request after `ms`. */
export const exchangeWith =
  (send: typeof fetch, time: TimeSource): Exchange =>
  async (url, init, ms) => {
    const abort = new AbortController()
    const timer = time.setTimeout(() => abort.abort(), ms)
    try {
      return await readAnswer(await send(url, { ...init, signal: abort.signal }))
    } finally {
      time.clearTimeout(timer)
    }
  }

export const readAnswer = async (response: Response): Promise<Answer> => {
  const { status, headers } = response
  return {
    status,
    body: await response.text(),
    date: headers.get('date'),
    retryAfter: headers.get('retry-after'),
  }
}
