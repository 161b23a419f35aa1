import { prefixOf } from './prefix.ts'
import type { IntakeOptions } from './options.ts'
import type { Answer, OutgoingRequest, TimeSource, Transport } from './ports.ts'
import { textBytes } from './text-bytes.ts'

/** Timeouts for a response. */
const textMsMax = 30_000
/** Enough for four pictures of 10 MiB at 50 kB a second. In Node, `fetch` ends after 300 seconds. */
const formMsMax = 900_000
/** Bodies with fewer characters are sent uncompressed, because compression saves little. */
const gzipBytesMin = 1000
/** Even if all 500 events of a batch have errors, the response is much smaller. */
const answerLengthMax = 4_000_000

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
    const kept = keptAlive + bytes <= keepaliveBytesMax ? bytes : 0
    const init = {
      method: 'POST',
      headers: {
        'x-api-key': apiKey,
        ...(isText ? { 'content-type': 'application/json' } : { prefer: 'handling=lenient' }),
        ...(packed && { 'content-encoding': 'gzip' }),
      },
      body: packed || body,
      credentials: 'omit',
      // A redirect is not followed, but counts as a failed attempt. Following it would send the API
      // key to another server.
      redirect: 'manual',
      keepalive: kept > 0,
    } as RequestInit
    keptAlive += kept
    const answer = await exchange(prefix + path, init, isText ? textMsMax : formMsMax).finally(
      () => {
        keptAlive -= kept
      },
    )
    if (!packed || answer.status !== 415) return answer
    gzip = undefined
    return transport(request)
  }

  return { transport, keepaliveBytes: () => keepaliveBytesMax - keptAlive }
}

/** Creates an `Exchange` that sends with `send` and aborts the request after `ms`. */
export const exchangeWith =
  (send: typeof fetch, time: TimeSource): Exchange =>
  (url, init, ms) => {
    const abort = new AbortController()
    const timer = time.setTimeout(() => abort.abort(), ms)
    return send(url, { ...init, signal: abort.signal })
      .then(readAnswer)
      .finally(() => {
        time.clearTimeout(timer)
        // Ends a response that was not read to its end.
        abort.abort()
      })
  }

/**
 * Reads a response; of one that is longer than any response of Intake, only the beginning. React
 * Native reads it whole, because it has no stream of the body.
 */
export const readAnswer = async (response: Response): Promise<Answer> => {
  const { status, headers, body: stream } = response
  let body = ''
  if (stream) {
    const reader = stream.getReader()
    const decoder = new TextDecoder()
    let bytes: Uint8Array | undefined
    while (body.length < answerLengthMax && (bytes = (await reader.read()).value))
      body += decoder.decode(bytes, { stream: true })
  } else body = await response.text()
  return { status, body, date: headers.get('date'), retryAfter: headers.get('retry-after') }
}
